export type Labels = Readonly<Record<string, string>>
export type Sample = readonly [labels: Labels, value: number]

interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly lines: () => string[]
}

/** Figures of a program, as Prometheus reads them. Whoever asks for a name again gets the same. */
export class Metrics {
  readonly #families = new Map<string, Family>()
  readonly #counters = new Map<string, Counters>()
  readonly #histograms = new Map<string, Histograms>()
  readonly #readers = new Map<string, (() => Iterable<Sample>)[]>()

  counters(name: string, help: string): Counters {
    const known = this.#counters.get(name)
    if (known !== undefined) return known
    const counters = new Counters(name)
    this.#counters.set(name, counters)
    this.#enter({ name, help, type: 'counter', lines: () => counters.lines() })
    return counters
  }

  /** Asked only when somebody looks. What can only grow is a counter also so. */
  gauges(
    name: string,
    help: string,
    read: () => Iterable<Sample>,
    type: 'gauge' | 'counter' = 'gauge',
  ): void {
    const known = this.#readers.get(name)
    if (known !== undefined) return void known.push(read)
    const readers = [read]
    this.#readers.set(name, readers)
    const samples = (): Sample[] => readers.flatMap((one) => [...one()])
    this.#enter({
      name,
      help,
      type,
      lines: () => samples().map(([labels, value]) => `${name}${textOf(labels)} ${value}`),
    })
  }

  /** `bounds` ascend. */
  histograms(name: string, help: string, bounds: readonly number[]): Histograms {
    const known = this.#histograms.get(name)
    if (known !== undefined) return known
    const histograms = new Histograms(name, bounds)
    this.#histograms.set(name, histograms)
    this.#enter({ name, help, type: 'histogram', lines: () => histograms.lines() })
    return histograms
  }

  text(): string {
    const lines = [...this.#families.values()].flatMap(({ name, help, type, lines: own }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...own(),
    ])
    return lines.map((line) => `${line}\n`).join('')
  }

  #enter(family: Family): void {
    if (this.#families.has(family.name)) throw new Error(`${family.name} is already something else`)
    this.#families.set(family.name, family)
  }
}

/** What only grows, once for each set of labels. */
export class Counters {
  readonly #name: string
  readonly #values = new Map<string, number>()

  constructor(name: string) {
    this.#name = name
  }

  add(labels: Labels = {}, by = 1): void {
    const key = textOf(labels)
    this.#values.set(key, (this.#values.get(key) ?? 0) + by)
  }

  lines(): string[] {
    return [...this.#values].map(([labels, value]) => `${this.#name}${labels} ${value}`)
  }
}

interface Histogram {
  readonly labels: Labels
  /** How many fell into each, not counting those below; the last one has no bound. */
  readonly counts: number[]
  sum: number
}

/** How what was measured is spread, once for each set of labels. */
export class Histograms {
  readonly #name: string
  readonly #bounds: readonly number[]
  readonly #all = new Map<string, Histogram>()

  constructor(name: string, bounds: readonly number[]) {
    this.#name = name
    this.#bounds = bounds
  }

  observe(labels: Labels, value: number): void {
    const key = textOf(labels)
    const known = this.#all.get(key)
    const one = known ?? { labels, counts: Array.from({ length: this.#bounds.length + 1 }, () => 0), sum: 0 }
    if (known === undefined) this.#all.set(key, one)
    const found = this.#bounds.findIndex((bound) => value <= bound)
    const at = found === -1 ? this.#bounds.length : found
    one.counts[at] = (one.counts[at] ?? 0) + 1
    one.sum += value
  }

  lines(): string[] {
    return [...this.#all.values()].flatMap(({ labels, counts, sum }) => {
      let below = 0
      const buckets = counts.map((count, at) => {
        below += count
        return `${this.#name}_bucket${textOf({ ...labels, le: String(this.#bounds[at] ?? '+Inf') })} ${below}`
      })
      return [
        ...buckets,
        `${this.#name}_sum${textOf(labels)} ${sum}`,
        `${this.#name}_count${textOf(labels)} ${below}`,
      ]
    })
  }
}

function textOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
