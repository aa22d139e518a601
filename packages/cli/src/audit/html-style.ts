/** The style of the report: light or dark as the reader's system is, one column on a phone. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --dim: #60666d; --page: #fff; --card: #f6f7f9; --line: #dfe2e6;
  --exact: #2c8a57; --alike: #d29a1c; --lost: #c9372c; --mark: #fff3d6; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --dim: #9aa1a9; --page: #15181b; --card: #1e2226;
  --line: #343a40; --exact: #3fa873; --alike: #d9a933; --lost: #e5604f; --mark: #3a3115; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 3rem 0 .25rem; overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 2rem 0 .25rem; }
p { margin: .25rem 0 1rem; }
.dim { color: var(--dim); }
.verdict { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .75rem; margin: 1.25rem 0; padding: 0; }
.verdict li { list-style: none; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; }
.verdict b { display: block; font-size: 1.7rem; line-height: 1.2; }
.chart { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; font-variant-numeric: tabular-nums; }
.chart th { text-align: left; font-weight: 600; vertical-align: top; padding: .35rem .75rem .35rem 0; white-space: nowrap; }
.chart td { padding: .35rem 0; width: 100%; }
.chart tr + tr > * { border-top: 1px solid var(--line); }
.bar { display: grid; grid-template-columns: 5.5rem 1fr 8.5rem; gap: .6rem; align-items: center; font-size: .875rem; }
.track { display: flex; height: .8rem; border-radius: .25rem; overflow: hidden; background: var(--line); }
.track i { display: block; }
.exact { background: var(--exact); } .alike { background: var(--alike); } .lost { background: var(--lost); }
.key { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: .25rem 0 1rem; font-size: .875rem; }
.key li { list-style: none; }
.key i { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; margin-right: .4rem; vertical-align: -.1rem; }
details { border: 1px solid var(--line); border-radius: .6rem; margin: .5rem 0; background: var(--card); }
summary { cursor: pointer; padding: .55rem 1rem; font-weight: 600; }
.items { border-collapse: collapse; width: 100%; font-size: .9rem; background: var(--page); }
.items th { text-align: left; font-weight: 600; color: var(--dim); }
.items th, .items td { padding: .35rem .75rem; border-top: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
.items td.text { width: 100%; white-space: pre-wrap; overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: .85rem; }
.used { background: var(--mark); }
.chip { font-weight: 600; } .chip.c-exact { color: var(--exact); } .chip.c-alike { color: var(--alike); } .chip.c-absent { color: var(--lost); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; font-size: .9rem; color: var(--dim); }
@media (max-width: 40rem) {
  main { padding: 1.25rem .9rem 3rem; }
  .chart th, .chart td { display: block; padding: .35rem 0 0; border: 0 !important; }
  .chart tr { display: block; border-top: 1px solid var(--line); padding: .3rem 0 .5rem; }
  .bar { grid-template-columns: 4.6rem 1fr 6.2rem; font-size: .8rem; }
  .items thead { display: none; }
  .items tr { display: flex; flex-wrap: wrap; gap: 0 .9rem; padding: .5rem .9rem; border-top: 1px solid var(--line); }
  .items td { border: 0; padding: .1rem 0; } .items td.text { order: -1; }
  .items td[data-name]::before { content: attr(data-name) ": "; color: var(--dim); font-weight: 400; }
}
`;
