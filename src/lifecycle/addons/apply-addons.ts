import type { AddonDifference } from '../../addons/addon-difference.ts'
import type { ApplyAddonResult } from '../../addons/apply-addon.ts'
import type { DesiredAddon } from '../../addons/desired-addons.ts'
import { settleAll } from '../../kit/settle-all.ts'
import { builtInAddons } from '../../spec/addons.ts'
import type { ClusterWriter } from '../cluster-access.ts'
import type { EmitEvent } from '../event-stream.ts'
import { type AddonProposal, isFeasible } from './proposal.ts'

export interface AddonTask {
  readonly name: string
  readonly title: string
  readonly work: () => Promise<void>
}

export interface AddonTaskOptions {
  readonly writer: Pick<ClusterWriter, 'applyAddon' | 'removeAddon'>
  readonly emit: EmitEvent
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Milliseconds until all objects of a removed addon must be gone. */
const removalTimeoutMs = 300_000

/**
 * Lists the addon tasks in the order in which they run. One task applies all built-in addons, which are
 * independent of each other. User addons may depend on other addons, so they follow one by one in the order
 * of cluster.yml.
 */
export function planAddonTasks(
  { desired, differences }: AddonProposal,
  options: AddonTaskOptions,
): readonly AddonTask[] {
  const changed = new Map(differences.filter(isFeasible).map((one) => [one.addon, one]))
  const pending = desired.filter(({ name }) => changed.has(name))
  const together = pending.filter(isBuiltIn)
  const others = (addon: string): DesiredAddon[] => desired.filter(({ name }) => name !== addon)
  const applyAddon = async (addon: DesiredAddon): Promise<void> => {
    const deadline = options.now().getTime() + addon.timeoutMs
    await reportFindings(
      options,
      options.writer.applyAddon(addon, { ...options, deadline, others: others(addon.name) }),
    )
  }
  const removeAddon = async ({ addon }: AddonDifference): Promise<void> => {
    const deadline = options.now().getTime() + removalTimeoutMs
    await reportFindings(
      options,
      options.writer.removeAddon(addon, { ...options, deadline, others: desired }),
    )
  }
  const names = together.map(({ name }) => name)
  const removed = [...changed.values()].filter(({ addon }) => !desired.some(({ name }) => name === addon))
  return [
    ...(names.length === 0
      ? []
      : [buildAddonTask(names.join(', '), async () => void (await settleAll(together.map(applyAddon))))]),
    ...pending
      .filter((addon) => !isBuiltIn(addon))
      .map((addon) => buildAddonTask(addon.name, async () => applyAddon(addon))),
    ...removed.map((one) => buildAddonTask(`${one.addon}, which goes`, async () => removeAddon(one))),
  ]
}

/** True if the addon is part of hyperkube. */
export function isBuiltIn({ name }: DesiredAddon): boolean {
  return builtInAddons.some((known) => known === name)
}

function buildAddonTask(names: string, done: () => Promise<void>): AddonTask {
  return { name: `addon ${names}`, title: `addon ${names}`, work: done }
}

async function reportFindings({ emit }: AddonTaskOptions, outcome: Promise<ApplyAddonResult>): Promise<void> {
  for (const finding of (await outcome).findings) emit({ type: 'finding', finding })
}
