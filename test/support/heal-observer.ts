import { setTimeout as sleep } from 'node:timers/promises'
import { runDoctor, type DoctorFinding, matchesFault, type DoctorReport } from './heal-doctor.ts'
import { listActionsSince, findDetectionTime } from './heal-health.ts'
import type { HealRow } from './heal-row.ts'
import type { HealCluster } from './heal-cluster.ts'

/** After a fault, polls the agents and runs `doctor` repeatedly, and records the results. */
export class HealObserver implements AsyncDisposable {
  readonly reports: DoctorReport[] = []
  readonly #cluster: HealCluster
  readonly #began: number
  readonly #stop = new AbortController()
  readonly #observing: Promise<unknown>
  #detected: number | undefined
  /** Actions as text, without duplicates. */
  readonly #actions = new Set<string>()
  readonly #restarts = new Set<string>()
  #doctorFailed: unknown

  constructor(cluster: HealCluster, began: number) {
    this.#cluster = cluster
    this.#began = began
    this.#observing = Promise.all([
      this.#repeat(1000, async () => this.#observeAgents()),
      this.#repeat(1000, async () => this.#runDoctor()),
    ])
  }

  /** Time at which an agent first detected the fault. */
  get detected(): number | undefined {
    return this.#detected
  }

  get actions(): string[] {
    return [...this.#actions]
  }

  /** Restarts by agents on any host. */
  get restarts(): string[] {
    return [...this.#restarts]
  }

  /** Error of `doctor`, if all its runs failed. */
  get doctorFailed(): unknown {
    return this.reports.length === 0 ? this.#doctorFailed : undefined
  }

  /** Finds the first report whose first finding names the fault, and returns this finding. */
  findNaming(row: HealRow, host: string): DoctorFinding | undefined {
    return this.reports
      .map(({ findings: [first] }) => first)
      .find((first) => first !== undefined && matchesFault(row, host, first))
  }

  /** First finding of the first report that has findings. */
  get firstFinding(): DoctorFinding | undefined {
    return this.reports.map(({ findings: [first] }) => first).find((first) => first !== undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#observing
    // Reads the agents once more, for what happened since the last poll.
    await this.#observeAgents()
  }

  async #observeAgents(): Promise<void> {
    for (const [host, health] of await this.#cluster.readHealth()) {
      const detected = findDetectionTime(health, this.#began)
      if (detected !== undefined) this.#detected = Math.min(detected, this.#detected ?? detected)
      for (const { action, component, at } of listActionsSince(health, this.#began)) {
        this.#actions.add(`${action} ${component}`)
        if (action === 'restart') this.#restarts.add(`${host} ${component} at ${at}`)
      }
    }
  }

  async #runDoctor(): Promise<void> {
    try {
      this.reports.push(await runDoctor(this.#cluster.operator))
    } catch (error) {
      this.#doctorFailed = error
    }
  }

  async #repeat(intervalMs: number, task: () => Promise<void>): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      await task()
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
