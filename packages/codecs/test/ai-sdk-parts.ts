export const text = (value: string): object[] => [{ kind: 'text', text: value }];
