import {
  canAct,
  type Fence,
  type HostRequest,
  type HostRequestState,
  hostRequestStateFormat,
  type HostResult,
} from '../../contract/host-resource.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { statePath, writeState } from '../records/state-file.ts'
import type { Host } from '../host/host.ts'

const file = 'requests.json'

/** Milliseconds for which a request is remembered after its deadline, in case the clock is set back. */
const retentionMs = 24 * 3_600_000

/** Requests that this host has started, stored on disk before they are handled. */
export class HostRequestStore {
  readonly #host: Host
  #state: HostRequestState
  /** The state that was last written to disk. `#state` may be newer. */
  #written: HostRequestState

  private constructor(host: Host, state: HostRequestState) {
    this.#host = host
    this.#state = state
    this.#written = state
  }

  /**
   * Loads the stored state and marks requests that a previous agent did not finish as `interrupted`. Fails if
   * the file is unreadable: an empty state would repeat requests and ignore fences.
   */
  static async open(host: Host): Promise<HostRequestStore> {
    const text = await host.files.read(statePath(host, file))
    const state = text === undefined ? emptyState : parseState(text.toString('utf8'), statePath(host, file))
    const store = new HostRequestStore(host, state)
    const at = host.clock.now().toISOString()
    await store.#save({
      ...state,
      started: state.started.map((one) => ({
        ...one,
        result: one.result ?? { id: one.id, outcome: 'interrupted', at, details: [] },
      })),
    })
    return store
  }

  get state(): HostRequestState {
    return this.#state
  }

  /**
   * Stores the highest fence, so requests with a lower fence are refused. Also retries a failed write of the
   * state.
   */
  async recordFence(highest: Fence | undefined): Promise<void> {
    const previous = this.#state.highestFence
    const isHigher = highest !== undefined && highest.transitions > (previous?.transitions ?? -1)
    await this.#save(isHigher ? { ...this.#state, highestFence: highest } : this.#state)
  }

  /**
   * Records that a request is handled from now on. Drops requests that are no longer in the API object and
   * whose deadline passed at least `retentionMs` ago.
   */
  async begin({ id, until, fence }: HostRequest, requestedIds: ReadonlySet<string>): Promise<void> {
    if (!canAct(fence, this.#state.highestFence)) throw new Error(`${id} was requested by a previous leader`)
    const oldest = this.#host.clock.now().getTime() - retentionMs
    const retained = this.#state.started.filter(
      (one) => requestedIds.has(one.id) || Date.parse(one.until) > oldest,
    )
    await this.#save({ ...this.#state, started: [...retained, { id, until }] })
  }

  async end(result: HostResult): Promise<void> {
    const begun = this.#state.started.map((one) => (one.id === result.id ? { ...one, result } : one))
    // The state in memory is updated before the write. The request is finished, even if its result cannot be
    // written.
    this.#state = { ...this.#state, started: begun }
    await this.#save(this.#state)
  }

  /** Writes the state to disk if it has changed, then makes it current. */
  async #save(state: HostRequestState): Promise<void> {
    if (JSON.stringify(state) === JSON.stringify(this.#written)) return
    await writeState(this.#host, file, state)
    this.#state = state
    this.#written = state
  }
}

const emptyState: HostRequestState = { apiVersion: 'hyperkube.dev/v1', kind: 'HostRequestState', started: [] }

function parseState(text: string, path: string): HostRequestState {
  try {
    return readVersioned(hostRequestStateFormat, JSON.parse(text))
  } catch (cause) {
    throw new HyperkubeError('HOST_REQUESTS_NOT_READ', `${path} is damaged or was changed`, {
      hint: `the agent refuses requests of controllers until then; to start with an empty state, on the host: rm ${path}`,
      cause,
    })
  }
}
