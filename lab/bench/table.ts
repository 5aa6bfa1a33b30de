import { milestones } from './milestones.ts'
import type { BenchResult } from './run-bench.ts'

/** All benchmark results of one setup tool (contender) in one cluster shape. */
export interface Column {
  readonly contender: string
  readonly shape: string
  /** Results in the order of the runs. */
  readonly results: readonly Pick<BenchResult, 'times' | 'usage'>[]
}

/**
 * Title and unit of a row, and a function that reads the row's value from a result. The function returns
 * undefined if the value was not measured.
 */
type Row = readonly [
  title: string,
  unit: string,
  value: (result: Column['results'][number]) => number | undefined,
]

const rows: readonly Row[] = [
  ...milestones.map((milestone): Row => [milestone, 's', ({ times }) => toSeconds(times.get(milestone))]),
  ['CPU of all hosts', 's', ({ usage }) => usage.cpuSeconds],
  ['peak memory of all hosts, page cache apart', 'GiB', ({ usage }) => usage.peakBytes / 2 ** 30],
]

/**
 * Renders a Markdown table with one row per milestone or cost. Each cell contains the median and the spread
 * of a column's results.
 */
export function renderTable(columns: readonly Column[]): string {
  const body = rows.map(([title, unit, value]) => [
    `${title} (${unit})`,
    ...columns.map(({ results }) =>
      formatSpread(
        results.flatMap((result) => value(result) ?? []),
        1,
      ),
    ),
  ])
  return renderMarkdown([['', ...columns.map(({ contender, shape }) => `${contender} ${shape}`)], ...body])
}

/**
 * Renders a Markdown table of ratios: each contender's values divided by those of every contender before it
 * with the same shape. Each ratio compares two results of the same run, because the speed of the machine
 * differs between runs. Returns an empty text if there is only one contender.
 */
export function renderRatios(columns: readonly Column[]): string {
  const pairs = columns.flatMap((column, index) =>
    columns
      .slice(0, index)
      .filter(({ shape }) => shape === column.shape)
      .map((base) => ({ column, base })),
  )
  if (pairs.length === 0) return ''
  const titles = pairs.map(({ column, base }) => `${column.contender} ÷ ${base.contender}, ${column.shape}`)
  const body = rows.map(([title, , value]) => [
    title,
    ...pairs.map(({ column, base }) => formatSpread(divideRuns(column, base, value), 2)),
  ])
  return renderMarkdown([['', ...titles], ...body])
}

function divideRuns(column: Column, base: Column, value: Row[2]): number[] {
  return column.results.flatMap((result, run) => {
    const other = base.results[run]
    const [own, divisor] = [value(result), other === undefined ? undefined : value(other)]
    return own === undefined || divisor === undefined || divisor === 0 ? [] : [own / divisor]
  })
}

function toSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000
}

/** Formats median, minimum and maximum, for example `12.3 (11.9–13.0)`. */
export function formatSpread(values: readonly number[], digits: number): string {
  const sorted = values.toSorted((a, b) => a - b)
  const [min, max] = [sorted.at(0), sorted.at(-1)]
  if (min === undefined || max === undefined) return '–'
  return `${median(sorted).toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`
}

function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

function renderMarkdown(lines: readonly (readonly string[])[]): string {
  const [header = []] = lines
  const widths = header.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = line(widths.map((width) => '-'.repeat(width)))
  return [line(header), rule, ...lines.slice(1).map(line)].join('\n')
}
