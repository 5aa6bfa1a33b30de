export type MetricLabels = Readonly<Record<string, string>>
export type Sample = readonly [labels: MetricLabels, value: number]

interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly lines: () => string[]
}

/**
 * Registry of metrics in the Prometheus text format. Repeated calls with the same name return the same
 * counter or histogram.
 */
export class Metrics {
  readonly #families = new Map<string, Family>()
  readonly #counters = new Map<string, CounterVec>()
  readonly #histograms = new Map<string, HistogramVec>()
  readonly #readers = new Map<string, (() => Iterable<Sample>)[]>()

  counters(name: string, help: string): CounterVec {
    const known = this.#counters.get(name)
    if (known !== undefined) return known
    const counters = new CounterVec(name)
    this.#counters.set(name, counters)
    this.#register({ name, help, type: 'counter', lines: () => counters.lines() })
    return counters
  }

  /**
   * Registers a metric whose values are read by `read` at each scrape. Use type `counter` for values that
   * only grow.
   */
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
    this.#register({
      name,
      help,
      type,
      lines: () => samples().map(([labels, value]) => `${name}${formatLabels(labels)} ${value}`),
    })
  }

  /** `bounds` are the upper bounds of the buckets in ascending order. */
  histograms(name: string, help: string, bounds: readonly number[]): HistogramVec {
    const known = this.#histograms.get(name)
    if (known !== undefined) return known
    const histograms = new HistogramVec(name, bounds)
    this.#histograms.set(name, histograms)
    this.#register({ name, help, type: 'histogram', lines: () => histograms.lines() })
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

  #register(family: Family): void {
    if (this.#families.has(family.name)) throw new Error(`metric ${family.name} is already registered`)
    this.#families.set(family.name, family)
  }
}

/** A counter with one value for each set of labels. */
export class CounterVec {
  readonly #name: string
  readonly #values = new Map<string, number>()

  constructor(name: string) {
    this.#name = name
  }

  add(labels: MetricLabels = {}, by = 1): void {
    const key = formatLabels(labels)
    this.#values.set(key, (this.#values.get(key) ?? 0) + by)
  }

  lines(): string[] {
    return [...this.#values].map(([labels, value]) => `${this.#name}${labels} ${value}`)
  }
}

interface Histogram {
  readonly labels: MetricLabels
  /** Number of values in each bucket, not cumulative. The last bucket has no upper bound. */
  readonly counts: number[]
  sum: number
}

/** A histogram with one distribution for each set of labels. */
export class HistogramVec {
  readonly #name: string
  readonly #bounds: readonly number[]
  readonly #histograms = new Map<string, Histogram>()

  constructor(name: string, bounds: readonly number[]) {
    this.#name = name
    this.#bounds = bounds
  }

  observe(labels: MetricLabels, value: number): void {
    const key = formatLabels(labels)
    const known = this.#histograms.get(key)
    const one = known ?? { labels, counts: Array.from({ length: this.#bounds.length + 1 }, () => 0), sum: 0 }
    if (known === undefined) this.#histograms.set(key, one)
    const found = this.#bounds.findIndex((bound) => value <= bound)
    const bucket = found === -1 ? this.#bounds.length : found
    one.counts[bucket] = (one.counts[bucket] ?? 0) + 1
    one.sum += value
  }

  lines(): string[] {
    return [...this.#histograms.values()].flatMap(({ labels, counts, sum }) => {
      let cumulative = 0
      const buckets = counts.map((count, bucket) => {
        cumulative += count
        return `${this.#name}_bucket${formatLabels({ ...labels, le: String(this.#bounds[bucket] ?? '+Inf') })} ${cumulative}`
      })
      return [
        ...buckets,
        `${this.#name}_sum${formatLabels(labels)} ${sum}`,
        `${this.#name}_count${formatLabels(labels)} ${cumulative}`,
      ]
    })
  }
}

function formatLabels(labels: MetricLabels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabelValue(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escapeLabelValue(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
