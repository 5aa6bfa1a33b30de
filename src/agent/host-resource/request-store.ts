import { type Fence, mayAct } from '../../contract/fence.ts'
import type { HostRequest, HostResult } from '../../contract/host-resource.ts'
import { type HostRequestMemory, hostRequestMemoryFormat } from '../../contract/host-request-state.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { statePath, writeState } from '../apply/state-file.ts'
import type { Host } from '../host/host.ts'

const file = 'requests.json'

/** In milliseconds. So long after its last moment a request is remembered: clocks are set back now and then. */
const grace = 24 * 3_600_000

/** What was asked of this host, on its disk before anything is done. */
export class RequestBook {
  readonly #host: Host
  #memory: HostRequestMemory
  /** What is on the disk. */
  #written: HostRequestMemory

  private constructor(host: Host, memory: HostRequestMemory) {
    this.#host = host
    this.#memory = memory
    this.#written = memory
  }

  /**
   * What an agent before this one began and did not end is ended by that. Fails where the book is there and cannot be read:
   * with an empty one, things would be done twice, and for anybody.
   */
  static async open(host: Host): Promise<RequestBook> {
    const text = await host.files.read(statePath(host, file))
    const memory = text === undefined ? nothing : read(text.toString('utf8'), statePath(host, file))
    const book = new RequestBook(host, memory)
    const at = host.clock.now().toISOString()
    await book.#change({
      ...memory,
      begun: memory.begun.map((one) => ({
        ...one,
        result: one.result ?? { id: one.id, outcome: 'interrupted', at, details: [] },
      })),
    })
    return book
  }

  get memory(): HostRequestMemory {
    return this.#memory
  }

  /** From now on nothing is done for a lower one. What could not be written before is written now. */
  async see(highest: Fence | undefined): Promise<void> {
    const before = this.#memory.highest
    const isAbove = highest !== undefined && highest.transitions > (before?.transitions ?? -1)
    await this.#change(isAbove ? { ...this.#memory, highest } : this.#memory)
  }

  /** It is done from now on, if at all. What is over, and stands nowhere any more, is forgotten. */
  async begin({ id, until, fence }: HostRequest, asked: ReadonlySet<string>): Promise<void> {
    if (!mayAct(fence, this.#memory.highest)) throw new Error(`${id} is asked in the name of a former leader`)
    const oldest = this.#host.clock.now().getTime() - grace
    const kept = this.#memory.begun.filter((one) => asked.has(one.id) || Date.parse(one.until) > oldest)
    await this.#change({ ...this.#memory, begun: [...kept, { id, until }] })
  }

  async end(result: HostResult): Promise<void> {
    const begun = this.#memory.begun.map((one) => (one.id === result.id ? { ...one, result } : one))
    // It is over, whether that can be written or not.
    this.#memory = { ...this.#memory, begun }
    await this.#change(this.#memory)
  }

  /** On the disk before anybody acts on it. */
  async #change(memory: HostRequestMemory): Promise<void> {
    if (JSON.stringify(memory) === JSON.stringify(this.#written)) return
    await writeState(this.#host, file, memory)
    this.#memory = memory
    this.#written = memory
  }
}

const nothing: HostRequestMemory = { apiVersion: 'hyperkube.dev/v1', kind: 'HostRequestMemory', begun: [] }

function read(text: string, path: string): HostRequestMemory {
  try {
    return readVersioned(hostRequestMemoryFormat, JSON.parse(text))
  } catch (cause) {
    throw new HyperkubeError('HOST_REQUESTS_NOT_READ', `${path} is not what the agent has written there`, {
      hint: `nothing is done of what controllers ask of this host; to begin anew: rm ${path}`,
      cause,
    })
  }
}
