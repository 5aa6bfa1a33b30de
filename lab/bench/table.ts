import { milestones } from './milestones.ts'
import type { Trial } from './run-bench.ts'

/** All trials of one contender in one shape. */
export interface Column {
  readonly title: string
  readonly trials: readonly Pick<Trial, 'times' | 'usage'>[]
}

/** Its title, and what a trial says of it: nothing where it was not asked for. */
type Row = readonly [title: string, value: (trial: Column['trials'][number]) => number | undefined]

/** Every milestone and cost in a row, every column's median with its spread: a Markdown table. */
export function renderTable(columns: readonly Column[]): string {
  const rows: Row[] = [
    ...milestones.map((milestone): Row => [`${milestone} (s)`, ({ times }) => seconds(times.get(milestone))]),
    ['CPU of all hosts (s)', ({ usage }) => usage.cpuSeconds],
    ['peak memory of all hosts, page cache apart (GiB)', ({ usage }) => usage.peakBytes / 2 ** 30],
  ]
  const body = rows.map(([title, value]) => [
    title,
    ...columns.map(({ trials }) => spread(trials.flatMap((trial) => value(trial) ?? []))),
  ])
  return markdown([['', ...columns.map(({ title }) => title)], ...body])
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000
}

/** `12.3 (11.9–13.0)`: the median, then the least and the most. */
export function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const [least, most] = [sorted.at(0), sorted.at(-1)]
  if (least === undefined || most === undefined) return '–'
  return `${median(sorted).toFixed(1)} (${least.toFixed(1)}–${most.toFixed(1)})`
}

function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

function markdown(rows: readonly (readonly string[])[]): string {
  const [header = []] = rows
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  return [line(header), rule, ...rows.slice(1).map(line)].join('\n')
}
