import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { type Claim, claimSchema } from '../../contract/request.ts'
import { type Format, readVersioned } from '../../contract/versioned.ts'
import { createMutex } from '../../kit/concurrency.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { replaceFile } from '../../kit/files.ts'
import { matchesHeldClaim, decideLock, type HeldOperatorLock } from './operator-lock.ts'

const heldLock = claimSchema.extend({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HeldClaim'),
  lastHeartbeat: z.number(),
  released: z.boolean(),
})

export const heldLockFormat: Format<z.infer<typeof heldLock>> = {
  kind: 'HeldClaim',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: heldLock },
  older: [],
}

/**
 * The operator lock of this host. It is stored on disk, so that an outdated claim is refused even after a
 * restart of the agent.
 */
export class OperatorLockStore {
  readonly #file: string
  readonly #now: () => number
  /**
   * Runs one change at a time. Otherwise the heartbeat of one operator could replace the lock that another one
   * has just taken.
   */
  readonly #changeExclusively = createMutex()
  #held: HeldOperatorLock | undefined

  private constructor(file: string, now: () => number, held: HeldOperatorLock | undefined) {
    this.#file = file
    this.#now = now
    this.#held = held
  }

  static async open(file: string, now: () => number): Promise<OperatorLockStore> {
    try {
      const { holder, generation, lastHeartbeat, released } = readVersioned(
        heldLockFormat,
        JSON.parse(await readFile(file, 'utf8')),
      )
      return new OperatorLockStore(file, now, { holder, generation, lastHeartbeat, released })
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return new OperatorLockStore(file, now, undefined)
      throw error
    }
  }

  get held(): HeldOperatorLock | undefined {
    return this.#held
  }

  /** Takes the lock for an operator or throws. `busy` is true while a run of the current holder is active. */
  async acquire(requested: Claim, force: boolean, busy: boolean): Promise<void> {
    await this.#changeExclusively(async () => {
      const decision = decideLock(this.#held, requested, force, this.#now(), busy)
      if (decision.outcome === 'refused') throw buildRefusal(decision.reason, decision.held)
      await this.#save(decision.held)
    })
  }

  /** Releases the lock. Does nothing if `requested` is not the current claim. */
  async release(requested: Claim): Promise<void> {
    await this.#changeExclusively(async () => {
      if (this.#held !== undefined && matchesHeldClaim(this.#held, requested))
        await this.#save({ ...this.#held, released: true })
    })
  }

  /**
   * Throws unless the claim is current. Called before each request that has a claim, and counts as a
   * heartbeat of the holder.
   */
  async requireHeld(requested: Claim): Promise<void> {
    await this.#changeExclusively(async () => {
      const held = this.#held
      if (held === undefined || !matchesHeldClaim(held, requested)) throw buildRefusal('outdated', held)
      await this.#save({ ...held, lastHeartbeat: this.#now() })
    })
  }

  async #save(held: HeldOperatorLock): Promise<void> {
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'HeldClaim', ...held }
    await replaceFile(this.#file, `${JSON.stringify(document)}\n`, 0o600)
    this.#held = held
  }
}

function buildRefusal(reason: 'held' | 'outdated', held: HeldOperatorLock | undefined): HyperkubeError {
  const who = held?.holder ?? 'no operator'
  if (reason === 'held') {
    return new HyperkubeError('CLAIM_HELD', `${who} holds the operator lock of the cluster`, {
      hint: 'wait until that operator is done; to break the lock, run the same command with --force-unlock',
    })
  }
  return new HyperkubeError('CLAIM_LOST', `the operator lock of the cluster now belongs to ${who}`, {
    hint: 'ask that operator; to see what is left to do: hyperkube plan',
  })
}
