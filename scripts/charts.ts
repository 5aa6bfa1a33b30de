import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Colour, colours, renderSvg, renderText } from './svg.ts'

interface Bar {
  readonly name: string
  readonly value: number
  /** Value as the evidence states it. */
  readonly text: string
  readonly colour: Colour
}

interface BarGroup {
  readonly title: string
  readonly bars: readonly Bar[]
}

interface Chart {
  readonly title: string
  readonly groups: readonly BarGroup[]
  /** Date, versions and conditions, one line each. */
  readonly notes: readonly string[]
  /** Width of the names left of the bars. */
  readonly nameWidth: number
}

const [width, barHeight, gap] = [688, 18, 6]

/** Draws horizontal bars. All groups share one scale that begins at zero. */
export function renderChart({ title, groups, notes, nameWidth }: Chart): string {
  const shapes: string[] = [renderText(4, 12, title, { bold: true, size: 14 })]
  const max = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const valueWidth = 130
  let y = 30
  for (const group of groups) {
    if (group.title !== '') {
      shapes.push(renderText(4, y + 8, group.title))
      y += 22
    }
    for (const { name, value, text, colour } of group.bars) {
      const length = Math.max(1, Math.round((value / max) * (width - nameWidth - valueWidth)))
      shapes.push(
        renderText(nameWidth - 8, y + barHeight / 2, name, { anchor: 'end' }),
        `<rect x="${nameWidth}" y="${y}" width="${length}" height="${barHeight}" rx="2" fill="${colours[colour]}"/>`,
        renderText(nameWidth + length + 6, y + barHeight / 2, text),
      )
      y += barHeight + gap
    }
    y += 8
  }
  for (const note of notes) {
    shapes.push(renderText(4, y + 8, note, { size: 12 }))
    y += 17
  }
  return renderSvg(width, y + 4, title, shapes)
}

/** Reads the rows of the first table that has the column `column`. */
function readTable(markdown: string, column: string): Map<string, string>[] {
  const lines = markdown.split('\n')
  const start = lines.findIndex((line) => line.startsWith('|') && splitRow(line).includes(column))
  if (start === -1) throw new Error(`the evidence has no table with a column ${column}`)
  const header = splitRow(lines[start] ?? '')
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines
    .slice(start + 2, end)
    .map((line) => new Map(splitRow(line).map((value, index) => [header[index] ?? '', value])))
}

function splitRow(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((value) => value.trim())
}

function read(row: ReadonlyMap<string, string> | undefined, column: string): string {
  const value = row?.get(column)
  if (value === undefined) throw new Error(`the evidence has no value for ${column}`)
  return value
}

/** Returns the first group of a pattern in the evidence. */
function match(markdown: string, pattern: RegExp): string {
  const found = pattern.exec(markdown)?.[1]
  if (found === undefined) throw new Error(`the evidence has nothing like ${String(pattern)}`)
  return found.replaceAll(/\s+/g, ' ')
}

/** Returns the date when a record was written. */
function readDate(markdown: string): string {
  return match(markdown, /^Written by .* on (\d{4}-\d\d-\d\d)/m)
}

/** Reads a number, or a duration such as `1 min 06 s`, `2.8 s` or `862 ms`, in seconds. */
export function readSeconds(text: string): number {
  const [, minutes = '0', amount, unit] = /^(?:(\d+) min )?([\d.,]+)(?: (s|ms))?/.exec(text) ?? []
  if (amount === undefined) throw new Error(`not a duration: ${text}`)
  const value = Number(amount.replaceAll(',', ''))
  return Number(minutes) * 60 + (unit === 'ms' ? value / 1000 : value)
}

const tools: readonly { name: string; colour: Colour }[] = [
  { name: 'bare', colour: 'grey' },
  { name: 'kubeadm', colour: 'amber' },
  { name: 'hyperkube', colour: 'blue' },
]

/** Draws the times of the first `up` beside those of the bare components and of kubeadm. */
export function renderUpChart(evidence: string): string {
  const rows = readTable(evidence, 'hyperkube 3+2')
  const find = (name: string) => rows.find((row) => row.get('') === name)
  const milestones = ['all API servers ready (s)', 'all nodes Ready (s)', 'ClusterIP answers (s)']
  return renderChart({
    title: 'A new cluster with 3 control planes and 2 workers',
    nameWidth: 90,
    groups: milestones.map((milestone) => ({
      title: milestone.replace(' (s)', ', seconds'),
      bars: tools.map(({ name, colour }) => {
        const text = read(find(milestone), `${name} 3+2`)
        return { name, value: readSeconds(text), text, colour }
      }),
    })),
    notes: [
      `${readDate(evidence)}, Kubernetes ${match(evidence, /Kubernetes (v[\d.]+)/)}, etcd ${match(evidence, /etcd@(v[\d.]+)/)}, containerd ${match(evidence, /containerd@(v[\d.]+\d)/)}.`,
      `${match(evidence, /^(\d+ alternating runs of each)/m)}: median (minimum–maximum), from empty hosts, on one machine.`,
    ],
  })
}

/** Draws the duration of an upgrade and its failed requests, for hyperkube and kubeadm. */
export function renderUpgradeChart(evidence: string): string {
  const rows = readTable(evidence, 'kubeadm')
  const service = rows.findIndex((row) => row.get('') === 'requests to the service')
  const [duration, failed] = [rows.find((row) => row.get('') === 'time'), rows[service + 1]]
  if (read(failed, '') !== '– failed') throw new Error('the evidence has no failed requests to the service')
  return renderChart({
    title: 'Upgrade of 3 control planes and 2 workers under load',
    nameWidth: 90,
    groups: [
      {
        title: '',
        bars: tools.slice(1).map(({ name, colour }) => {
          const text = read(duration, name)
          return { name, value: readSeconds(text), text, colour }
        }),
      },
    ],
    notes: [
      `Failed requests to a service: hyperkube ${read(failed, 'hyperkube')} of ${read(rows[service], 'hyperkube')}, kubeadm ${read(failed, 'kubeadm')} of ${read(rows[service], 'kubeadm')}.`,
      `${readDate(evidence)}, Kubernetes ${match(evidence, /Kubernetes (v[\d.]+ to v[\d.]+\d)/)}, etcd ${match(evidence, /etcd (v[\d.]+)/)} at the end.`,
      'One cluster after the other on one machine. Images for kubeadm were on the hosts before its start.',
    ],
  })
}

/** Draws how long it takes until killed and hanging components are healthy again. */
export function renderHealingChart(evidence: string): string {
  const rows = readTable(evidence, 'healed after')
  const runs = Math.max(...rows.map((row) => Number(read(row, 'runs'))))
  const repeated = rows.filter((row) => Number(read(row, 'runs')) === runs)
  const select = (signal: string, colour: Colour): Bar[] =>
    repeated
      .filter((row) => read(row, 'fault').includes(signal))
      .map((row) => {
        const text = read(row, 'healed after')
        const name = read(row, 'fault').replace(new RegExp(` ${signal}.*`), '')
        return { name, value: readSeconds(text), text, colour }
      })
  return renderChart({
    title: 'Time until a component is healthy again, without an operator',
    nameWidth: 190,
    groups: [
      { title: 'The process was killed (SIGKILL)', bars: select('SIGKILL', 'green') },
      { title: 'The process hangs (SIGSTOP)', bars: select('SIGSTOP', 'blue') },
    ],
    notes: [
      `All faults with ${runs} runs, medians. 3 control planes and 2 workers in use.`,
      `${readDate(evidence)}, hyperkube ${match(evidence, /hyperkube ([\d.]+\d)/)}, Kubernetes ${match(evidence, /Kubernetes ([\d.]+\d)/)}.`,
    ],
  })
}

const readEvidence = async (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, '../docs/evidence', name), 'utf8')

/** Renderers of all charts, by path in docs. */
export const charts: Readonly<Record<string, () => Promise<string>>> = {
  'public/charts/up.svg': async () => renderUpChart(await readEvidence('bench.md')),
  'public/charts/upgrade.svg': async () => renderUpgradeChart(await readEvidence('upgrade-beside-3+2.md')),
  'public/charts/healing.svg': async () => renderHealingChart(await readEvidence('healing.md')),
}
