import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { type Claim, claim } from '../../contract/request.ts'
import { type Format, readVersioned } from '../../contract/versioned.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { replaceFile } from '../../kit/atomic-file.ts'
import { carries, decideClaim, type HeldClaim } from './operator-lock.ts'

const heldClaim = claim.extend({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HeldClaim'),
  heard: z.number(),
  released: z.boolean(),
})

export const heldClaimFormat: Format<z.infer<typeof heldClaim>> = {
  kind: 'HeldClaim',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: heldClaim },
  older: [],
}

/** Who may change the cluster through this host; it outlives the agent, or an old operator could come back with it. */
export class ClaimStore {
  readonly #file: string
  readonly #now: () => number
  #held: HeldClaim | undefined

  private constructor(file: string, now: () => number, held: HeldClaim | undefined) {
    this.#file = file
    this.#now = now
    this.#held = held
  }

  static async open(file: string, now: () => number): Promise<ClaimStore> {
    try {
      const { holder, generation, heard, released } = readVersioned(
        heldClaimFormat,
        JSON.parse(await readFile(file, 'utf8')),
      )
      return new ClaimStore(file, now, { holder, generation, heard, released })
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return new ClaimStore(file, now, undefined)
      throw error
    }
  }

  get held(): HeldClaim | undefined {
    return this.#held
  }

  /** `busy`: the host is at work for whoever holds it now. */
  async take(asked: Claim, force: boolean, busy: boolean): Promise<void> {
    const decision = decideClaim(this.#held, asked, force, this.#now(), busy)
    if (decision.verdict === 'refused') throw refusal(decision.reason, decision.held)
    await this.#keep(decision.held)
  }

  /** Of somebody who does not hold it, nothing is taken. */
  async release(asked: Claim): Promise<void> {
    if (this.#held !== undefined && carries(this.#held, asked))
      await this.#keep({ ...this.#held, released: true })
  }

  /** Before anything is done for a request that carries a claim; whoever sends one is heard of by that. */
  async require(asked: Claim): Promise<void> {
    const held = this.#held
    if (held === undefined || !carries(held, asked)) throw refusal('outdated', held)
    await this.#keep({ ...held, heard: this.#now() })
  }

  async #keep(held: HeldClaim): Promise<void> {
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'HeldClaim', ...held }
    await replaceFile(this.#file, `${JSON.stringify(document)}\n`, 0o600)
    this.#held = held
  }
}

function refusal(reason: 'held' | 'outdated', held: HeldClaim | undefined): HyperkubeError {
  const who = held?.holder ?? 'nobody'
  if (reason === 'held') {
    return new HyperkubeError('CLAIM_HELD', `${who} is changing the cluster now`, {
      hint: 'wait until they are done; if they are gone for good, the same command with --force-unlock',
    })
  }
  return new HyperkubeError('CLAIM_LOST', `the claim on the cluster has gone to ${who} meanwhile`, {
    hint: 'ask them; hyperkube plan shows what is left to do',
  })
}
