import type { CounterVec, HistogramVec, Metrics, Sample } from '../kit/metrics.ts'

/** Current load of a queue. */
export interface QueueLoad {
  readonly depth: number
  /** For each key in progress, the milliseconds since its processing started. */
  readonly running: readonly number[]
}

/** Records what happens in one queue. Durations are in milliseconds. */
export interface QueueMeter {
  added(): void
  retried(): void
  started(waited: number): void
  ended(worked: number): void
}

/** Histogram buckets in seconds, from 10 ns to 1000 s, as in client-go. */
const durationBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000]

/** Metrics of queues under the names that client-go uses, so existing dashboards and alerts work. */
export class QueueMetrics {
  readonly #metrics: Metrics
  readonly #adds: CounterVec
  readonly #retries: CounterVec
  readonly #waits: HistogramVec
  readonly #works: HistogramVec

  constructor(metrics: Metrics) {
    this.#metrics = metrics
    this.#adds = metrics.counters('workqueue_adds_total', 'Keys added to the queue.')
    this.#retries = metrics.counters('workqueue_retries_total', 'Retries of keys.')
    this.#waits = metrics.histograms(
      'workqueue_queue_duration_seconds',
      'Time that keys wait in the queue.',
      durationBuckets,
    )
    this.#works = metrics.histograms(
      'workqueue_work_duration_seconds',
      'Processing time of a key.',
      durationBuckets,
    )
  }

  /** Registers the metrics of a queue. `load` is called at each scrape. */
  meter(name: string, load: () => QueueLoad): QueueMeter {
    const labels = { name }
    const sample = (value: (load: QueueLoad) => number) => (): Sample[] => [[labels, value(load())]]
    const gauges = this.#metrics.gauges.bind(this.#metrics)
    gauges(
      'workqueue_depth',
      'Keys in the queue.',
      sample(({ depth }) => depth),
    )
    gauges(
      'workqueue_unfinished_work_seconds',
      'Sum of the processing times of all keys in progress.',
      sample(({ running }) => running.reduce((sum, time) => sum + time, 0) / 1000),
    )
    gauges(
      'workqueue_longest_running_processor_seconds',
      'Processing time of the oldest key in progress.',
      sample(({ running }) => Math.max(0, ...running) / 1000),
    )
    this.#adds.add(labels, 0)
    this.#retries.add(labels, 0)
    return {
      added: () => this.#adds.add(labels),
      retried: () => this.#retries.add(labels),
      started: (waited) => this.#waits.observe(labels, waited / 1000),
      ended: (worked) => this.#works.observe(labels, worked / 1000),
    }
  }
}
