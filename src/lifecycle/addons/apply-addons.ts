import type { AddonDifference } from '../../addons/addon-difference.ts'
import type { Outcome } from '../../addons/apply-addon.ts'
import type { WishedAddon } from '../../addons/desired-addons.ts'
import { settleAll } from '../../kit/settle-all.ts'
import { builtInAddons } from '../../spec/addons.ts'
import type { Interior } from '../cluster-access.ts'
import type { Tell } from '../event-stream.ts'
import { type AddonProposal, isFeasible } from './proposal.ts'

export interface AddonWork {
  readonly name: string
  readonly title: string
  readonly work: () => Promise<void>
}

export interface AddonWorkOptions {
  readonly interior: Pick<Interior, 'putAddon' | 'removeAddon'>
  readonly tell: Tell
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** How long it may take until all that an addon had put there is gone. */
const removalTime = 300_000

/**
 * What is to be done for addons, one after the other. Those that come with us know nothing of each other and are put there
 * together; a user's own may need them, and each other, so that they come in the order in which they are written.
 */
export function addonWork(
  { wished, differences }: AddonProposal,
  options: AddonWorkOptions,
): readonly AddonWork[] {
  const changed = new Map(differences.filter(isFeasible).map((one) => [one.addon, one]))
  const pending = wished.filter(({ name }) => changed.has(name))
  const together = pending.filter(isOurs)
  const others = (addon: string): WishedAddon[] => wished.filter(({ name }) => name !== addon)
  const putting = async (addon: WishedAddon): Promise<void> => {
    const deadline = options.now().getTime() + addon.timeout
    await told(
      options,
      options.interior.putAddon(addon, { ...options, deadline, others: others(addon.name) }),
    )
  }
  const removing = async ({ addon }: AddonDifference): Promise<void> => {
    const deadline = options.now().getTime() + removalTime
    await told(options, options.interior.removeAddon(addon, { ...options, deadline, others: wished }))
  }
  const names = together.map(({ name }) => name)
  const gone = [...changed.values()].filter(({ addon }) => !wished.some(({ name }) => name === addon))
  return [
    ...(names.length === 0
      ? []
      : [work(names.join(', '), async () => void (await settleAll(together.map(putting))))]),
    ...pending.filter((addon) => !isOurs(addon)).map((addon) => work(addon.name, async () => putting(addon))),
    ...gone.map((one) => work(`${one.addon}, which goes`, async () => removing(one))),
  ]
}

/** Whether it comes with hyperkube. */
export function isOurs({ name }: WishedAddon): boolean {
  return builtInAddons.some((known) => known === name)
}

function work(names: string, done: () => Promise<void>): AddonWork {
  return { name: `addon ${names}`, title: `addon ${names}`, work: done }
}

async function told({ tell }: AddonWorkOptions, outcome: Promise<Outcome>): Promise<void> {
  for (const finding of (await outcome).findings) tell({ type: 'finding', finding })
}
