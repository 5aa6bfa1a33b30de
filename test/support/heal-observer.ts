import { setTimeout as sleep } from 'node:timers/promises'
import { askDoctor, type DoctorFinding, names, type Told } from './heal-doctor.ts'
import { actionsSince, detectedSince } from './heal-health.ts'
import type { HealRow } from './heal-row.ts'
import type { HealScene } from './heal-cluster.ts'

/** Looks at agents and asks `doctor` again and again, from a fault on, and remembers what was said. */
export class Witness implements AsyncDisposable {
  readonly told: Told[] = []
  readonly #scene: HealScene
  readonly #began: number
  readonly #over = new AbortController()
  readonly #looking: Promise<unknown>
  #detected: number | undefined
  /** In words, by host and what was done. */
  readonly #actions = new Set<string>()
  readonly #restarts = new Set<string>()
  #doctorFailed: unknown

  constructor(scene: HealScene, began: number) {
    this.#scene = scene
    this.#began = began
    this.#looking = Promise.all([
      this.#again(1000, async () => this.#look()),
      this.#again(1000, async () => this.#ask()),
    ])
  }

  /** When an agent first knew of it. */
  get detected(): number | undefined {
    return this.#detected
  }

  get actions(): string[] {
    return [...this.#actions]
  }

  /** Restarts by agents, wherever. */
  get restarts(): string[] {
    return [...this.#restarts]
  }

  /** Why `doctor` said nothing, when it never did. */
  get doctorFailed(): unknown {
    return this.told.length === 0 ? this.#doctorFailed : undefined
  }

  /** What names the fault of a row, before all else. */
  naming(row: HealRow, host: string): DoctorFinding | undefined {
    return this.told
      .map(({ findings: [first] }) => first)
      .find((first) => first !== undefined && names(row, host, first))
  }

  /** The first that was said at all. */
  get firstFinding(): DoctorFinding | undefined {
    return this.told.map(({ findings: [first] }) => first).find((first) => first !== undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort()
    await this.#looking
    // What happened since the last look, too.
    await this.#look()
  }

  async #look(): Promise<void> {
    for (const [host, health] of await this.#scene.health()) {
      const detected = detectedSince(health, this.#began)
      if (detected !== undefined) this.#detected = Math.min(detected, this.#detected ?? detected)
      for (const { action, component, at } of actionsSince(health, this.#began)) {
        this.#actions.add(`${action} ${component}`)
        if (action === 'restart') this.#restarts.add(`${host} ${component} at ${at}`)
      }
    }
  }

  async #ask(): Promise<void> {
    try {
      this.told.push(await askDoctor(this.#scene.operator))
    } catch (error) {
      this.#doctorFailed = error
    }
  }

  async #again(pause: number, look: () => Promise<void>): Promise<void> {
    const { signal } = this.#over
    while (!signal.aborted) {
      await look()
      await sleep(pause, undefined, { signal }).catch(() => undefined)
    }
  }
}
