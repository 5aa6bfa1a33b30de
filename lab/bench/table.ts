import { milestones } from './milestones.ts'
import type { BenchResult } from './run-bench.ts'

/** All benchmark results of one setup tool (contender) in one cluster shape. */
export interface Column {
  readonly title: string
  readonly results: readonly Pick<BenchResult, 'times' | 'usage'>[]
}

/**
 * Title of a row, and a function that reads its value from a result. The value is undefined if it was not
 * measured.
 */
type Row = readonly [title: string, value: (result: Column['results'][number]) => number | undefined]

/**
 * Renders a Markdown table with one row per milestone or cost. Each cell contains the median and the spread
 * of a column's results.
 */
export function renderTable(columns: readonly Column[]): string {
  const rows: Row[] = [
    ...milestones.map((milestone): Row => [
      `${milestone} (s)`,
      ({ times }) => toSeconds(times.get(milestone)),
    ]),
    ['CPU of all hosts (s)', ({ usage }) => usage.cpuSeconds],
    ['peak memory of all hosts, page cache apart (GiB)', ({ usage }) => usage.peakBytes / 2 ** 30],
  ]
  const body = rows.map(([title, value]) => [
    title,
    ...columns.map(({ results }) => formatSpread(results.flatMap((result) => value(result) ?? []))),
  ])
  return renderMarkdown([['', ...columns.map(({ title }) => title)], ...body])
}

function toSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000
}

/** Formats median, minimum and maximum, for example `12.3 (11.9–13.0)`. */
export function formatSpread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const [min, max] = [sorted.at(0), sorted.at(-1)]
  if (min === undefined || max === undefined) return '–'
  return `${median(sorted).toFixed(1)} (${min.toFixed(1)}–${max.toFixed(1)})`
}

function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

function renderMarkdown(rows: readonly (readonly string[])[]): string {
  const [header = []] = rows
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  return [line(header), rule, ...rows.slice(1).map(line)].join('\n')
}
