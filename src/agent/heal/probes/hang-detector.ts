import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { ProbeDeps } from './probe-deps.ts'

/** Processor time of a process at one moment. */
interface CpuSample {
  readonly pid: number
  /** Milliseconds of a monotonic clock. */
  readonly at: number
  /** Clock ticks that all threads of the process have used. */
  readonly ticks: number
}

/** Samples that are further apart than this many milliseconds belong to different incidents. */
const maxSampleAgeMs = 60_000
/** Ticks per second are 100 on all supported architectures. */
const ticksPerMs = 0.1
/** A process that uses less than this share of a processor does not work on a response. */
const maxIdleShare = 0.01

/**
 * Looks for a second sign that a process hangs after its probe timed out. With such a sign, healing need not
 * wait for more failures of the probe. The sign is a stopped process, or a process that used no processor
 * time since the previous timeout. A busy or slow process shows neither sign.
 */
export class HangDetector {
  readonly #deps: Pick<ProbeDeps, 'files' | 'services' | 'monotonic'>
  /** Samples of processes whose probes timed out (key: component name). */
  readonly #samples = new Map<string, CpuSample>()

  constructor(deps: Pick<ProbeDeps, 'files' | 'services' | 'monotonic'>) {
    this.#deps = deps
  }

  /**
   * Returns the second sign that the component hangs, or undefined. Called each time a probe of the component
   * times out.
   */
  async findSign({ name, service }: ComponentPlan): Promise<string | undefined> {
    if (service?.supervisor !== 'systemd') return undefined
    const { pid } = await this.#deps.services.show(service.name)
    const stat = pid === 0 ? undefined : await this.#deps.files.read(`/proc/${pid}/stat`)
    const process = stat && parseStat(stat.toString('utf8'))
    if (process === undefined) return undefined
    if (process.state === 'T') return `process ${pid} is stopped`
    const before = this.#samples.get(name)
    const sample = { pid, at: this.#deps.monotonic(), ticks: process.ticks }
    this.#samples.set(name, sample)
    // Of the processes that are not stopped, only a sleeping one (S) counts as hung. A process that waits for
    // a disk (D) would wait again after a restart.
    if (before?.pid !== pid || process.state !== 'S') return undefined
    const elapsedMs = sample.at - before.at
    const isIdle = sample.ticks - before.ticks <= elapsedMs * ticksPerMs * maxIdleShare
    if (!isIdle || elapsedMs >= maxSampleAgeMs || (await this.#waitsForDisk(pid))) return undefined
    return `process ${pid} uses no processor time`
  }

  /**
   * True if a thread waits for a disk. The state of a process is the state of its first thread, and programs
   * in Go write files in other threads.
   */
  async #waitsForDisk(pid: number): Promise<boolean> {
    const directory = `/proc/${pid}/task`
    const threads = (await this.#deps.files.list(directory)) ?? []
    const states = await Promise.all(
      threads.map(async ({ name }) => {
        const stat = await this.#deps.files.read(`${directory}/${name}/stat`)
        return stat && parseStat(stat.toString('utf8'))?.state
      }),
    )
    return states.includes('D')
  }
}

/** Parses /proc/PID/stat. The name of the program may contain spaces and parentheses. */
function parseStat(text: string): { readonly state: string; readonly ticks: number } | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state = '', userTicks, systemTicks] = [fields[0], fields[11], fields[12]]
  const ticks = Number(userTicks) + Number(systemTicks)
  return Number.isFinite(ticks) ? { state, ticks } : undefined
}
