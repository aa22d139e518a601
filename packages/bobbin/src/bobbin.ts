export * from '@bobbin/core';
