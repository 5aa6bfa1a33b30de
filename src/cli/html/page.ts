import { toPrintable } from '../../kit/text.ts'

/**
 * Returns text that is safe inside HTML. Control characters are replaced, because they could hide other text.
 */
export function escapeHtml(text: string): string {
  return toPrintable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/**
 * Renders a complete page. It has no scripts and loads nothing, so it works offline, in print and under any
 * content security policy.
 */
export function renderPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}

/** Renders a highlighted box with a bold title and, below the text, the next command. */
export function renderNotice(severity: string, title: string, text: string, hint?: string): string {
  const hintText = hint === undefined ? '' : `<br><span class="dim">→ ${escapeHtml(hint)}</span>`
  return `<div class="finding ${severity}"><strong>${escapeHtml(title)}</strong> ${escapeHtml(text)}${hintText}</div>`
}

const style = `
:root { --text: #1c2024; --dim: #60646c; --line: #d9d9e0; --panel: #f4f4f6; --page: #ffffff;
  --ok: #2a7e3b; --change: #9e6c00; --bad: #c62a2f; --info: #0d74ce; }
@media (prefers-color-scheme: dark) {
  :root { --text: #edeef0; --dim: #b0b4ba; --line: #43484e; --panel: #212225; --page: #111113;
    --ok: #71d083; --change: #ffca16; --bad: #ff9592; --info: #70b8ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; } .dim { color: var(--dim); }
code, pre { font-family: ui-monospace, monospace; font-size: .88em; }
pre { background: var(--panel); padding: .75rem; overflow-x: auto; border-radius: 6px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--dim); font-weight: 600; white-space: nowrap; }
td.name { white-space: nowrap; font-weight: 600; }
td code { overflow-wrap: anywhere; }
.ok { color: var(--ok); } .change { color: var(--change); } .bad { color: var(--bad); }
ol { padding-left: 1.6rem; } li { margin: .3rem 0; } li ul { padding-left: 1.1rem; color: var(--dim); }
details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .4rem .75rem; }
summary { cursor: pointer; }
.finding { border-left: 3px solid var(--change); padding: .3rem .75rem; margin: .5rem 0; background: var(--panel); }
.finding.error { border-color: var(--bad); }
.lane { position: relative; height: 1.35rem; min-width: 22rem; background: var(--panel); border-radius: 4px; }
.bar { position: absolute; top: 0; bottom: 0; min-width: 3px; border-radius: 4px; overflow: hidden;
  padding: 0 .3rem; font-size: .75rem; line-height: 1.35rem; white-space: nowrap; color: #fff; background: #2a7e3b; }
.bar.unchanged { background: #6f7378; } .bar.failed { background: #c62a2f; } .bar.interrupted { background: #9e6c00; }
@media print { body { font-size: 11px; } tr { break-inside: avoid; } .bar { print-color-adjust: exact; }
  details::details-content { content-visibility: visible; display: block; } }
`
