import { formatCount } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { escapeHtml, renderNotice, renderPage } from './page.ts'
import { renderFinding } from './plan-page.ts'
import { listBars, type Timeline, type TimelineBar, type TimelineOp, wholeCluster } from './timeline.ts'

/** Number of ops that the page lists, slowest first. */
const shownOps = 30

/** Renders the timeline of a run: one lane per host, then failures, findings and the slowest ops. */
export function renderTimelinePage(cluster: string, timeline: Timeline): string {
  const { command, start, end, result, lanes, ops, findings, failures } = timeline
  const title = `hyperkube ${command} on ${cluster}`
  const outcome = result?.outcome ?? 'no end recorded'
  const colour =
    outcome === 'failed' ? 'bad' : outcome === 'done' || outcome === 'unchanged' ? 'ok' : 'change'
  const rows = sortLanes(lanes).map(
    ([host, bars]) =>
      `<tr><td class="name">${escapeHtml(host)}</td><td><div class="lane">${bars.map((bar) => renderBar(bar, timeline)).join('')}</div></td></tr>`,
  )
  const body = [
    `<h1>${escapeHtml(title)}</h1>`,
    `<p class="dim">${new Date(start).toISOString().slice(0, 19).replace('T', ' ')} UTC, ${formatDuration(end - start)}, <span class="${colour}">${escapeHtml(outcome)}</span>, ${formatCount(ops.filter((op) => op.outcome === 'done').length, 'change')}</p>`,
    ...failures.map(({ host, text, hint }) => renderNotice('error', host, text, hint)),
    rows.length === 0
      ? '<p>The run ended before its first step.</p>'
      : `<h2>Timeline</h2>\n<div class="scroll"><table>\n${rows.join('\n')}\n</table></div>`,
    renderStepTable(timeline),
    renderOps(ops),
    findings.length === 0 ? '' : `<h2>Findings</h2>\n${findings.map(renderFinding).join('\n')}`,
  ]
  return renderPage(title, body.filter((part) => part !== '').join('\n'))
}

/** Puts the lane of the whole cluster first, then the lanes of hosts by name. */
function sortLanes(lanes: Timeline['lanes']): [string, readonly TimelineBar[]][] {
  const rank = ([host]: readonly [string, unknown]): number => (host === wholeCluster ? 0 : 1)
  return [...lanes].toSorted((a, b) => rank(a) - rank(b) || a[0].localeCompare(b[0], 'en', { numeric: true }))
}

function renderBar({ title, start, end, outcome }: TimelineBar, timeline: Timeline): string {
  const total = Math.max(1, timeline.end - timeline.start)
  const left = (((start - timeline.start) / total) * 100).toFixed(2)
  const width = (((end - start) / total) * 100).toFixed(2)
  const text = escapeHtml(`${title}: ${formatDuration(end - start)}, ${outcome}`)
  return `<div class="bar ${outcome}" style="left:${left}%;width:${width}%" title="${text}">${escapeHtml(title)}</div>`
}

/** Lists all bars as text too, because a narrow bar has no room for its title. */
function renderStepTable(timeline: Timeline): string {
  const bars = listBars(timeline)
  if (bars.length === 0) return ''
  const rows = bars.map(
    (bar) =>
      `<tr><td>${formatDuration(bar.start - timeline.start)}</td><td>${formatDuration(bar.end - bar.start)}</td><td class="name">${escapeHtml(bar.host)}</td><td>${escapeHtml(bar.title)}</td><td>${bar.outcome}</td></tr>`,
  )
  return `<details><summary>${formatCount(bars.length, 'step')} as a table</summary><div class="scroll"><table>
<tr><th>At</th><th>Took</th><th>Host</th><th>Step</th><th>Result</th></tr>
${rows.join('\n')}
</table></div></details>`
}

function renderOps(ops: readonly TimelineOp[]): string {
  if (ops.length === 0) return ''
  const rows = ops
    .toSorted((a, b) => b.end - b.start - (a.end - a.start))
    .slice(0, shownOps)
    .map(
      ({ host, component, text, start, end, outcome }) =>
        `<tr><td>${formatDuration(end - start)}</td><td class="name">${escapeHtml(host)}</td><td>${escapeHtml(component)}</td><td><code>${escapeHtml(text)}</code></td><td>${outcome}</td></tr>`,
    )
  return `<h2>Slowest changes</h2>
<div class="scroll"><table>
<tr><th>Took</th><th>Host</th><th>Component</th><th>Change</th><th>Result</th></tr>
${rows.join('\n')}
</table></div>`
}
