import { type AddonDifference, isEntirelyNew } from '../../addons/addon-difference.ts'
import type { ApplyAddonResult } from '../../addons/apply-addon.ts'
import type { DesiredAddon } from '../../addons/desired-addons.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { builtInAddons } from '../../spec/addons.ts'
import { type AddonProposal, isFeasible } from '../addons/proposal.ts'
import type { EmitEvent } from '../agents/event-stream.ts'
import type { ClusterClient } from '../cluster-client/cluster-client.ts'

export interface AddonTask {
  readonly name: string
  readonly title: string
  readonly work: () => Promise<void>
}

export interface AddonTaskOptions {
  readonly client: Pick<ClusterClient, 'applyAddon' | 'removeAddon'>
  readonly emit: EmitEvent
  readonly now: () => Date
  readonly signal: AbortSignal
}

/** Milliseconds until all objects of a removed addon must be deleted. */
const removalTimeoutMs = 300_000

/**
 * Lists the addon tasks in the order in which they run. The network addon comes first, because pods of other
 * addons need its network. One task applies all built-in addons, which are independent of each other. User
 * addons may depend on other addons, so they follow one by one in the order of cluster.yml.
 */
export function planAddonTasks(
  { desired, differences }: AddonProposal,
  options: AddonTaskOptions,
  networkAddon?: string,
): readonly AddonTask[] {
  const changed = new Map(differences.filter(isFeasible).map((one) => [one.addon, one]))
  const pending = desired.filter(({ name }) => changed.has(name))
  const together = pending.filter(isBuiltIn)
  const others = (addon: string): DesiredAddon[] => desired.filter(({ name }) => name !== addon)
  const applyAddon = async (addon: DesiredAddon): Promise<void> => {
    const deadline = options.now().getTime() + addon.timeoutMs
    await reportFindings(
      options,
      options.client.applyAddon(addon, { ...options, deadline, others: others(addon.name) }),
    )
  }
  const removeAddon = async ({ addon }: AddonDifference): Promise<void> => {
    const deadline = options.now().getTime() + removalTimeoutMs
    await reportFindings(
      options,
      options.client.removeAddon(addon, { ...options, deadline, others: desired }),
    )
  }
  const applyOne = (addon: DesiredAddon): AddonTask =>
    buildAddonTask(addon.name, async () => applyAddon(addon))
  const userAddons = pending.filter((addon) => !isBuiltIn(addon))
  const names = together.map(({ name }) => name)
  const removed = [...changed.values()].filter(({ addon }) => !desired.some(({ name }) => name === addon))
  return [
    ...userAddons.filter(({ name }) => name === networkAddon).map(applyOne),
    ...(names.length === 0
      ? []
      : [buildAddonTask(names.join(', '), async () => void (await settleAll(together.map(applyAddon))))]),
    ...userAddons.filter(({ name }) => name !== networkAddon).map(applyOne),
    ...removed.map((one) => buildAddonTask(`${one.addon} (removed)`, async () => removeAddon(one))),
  ]
}

/**
 * Lists the task that applies a new network addon before nodes exist, or one that an interrupted run has left
 * incomplete. It waits for no pods. Nodes become ready once the pods of the addon run on them. A change of an
 * installed addon has no such task: previous objects must not be removed before the new pods are ready.
 */
export function planNetworkAddonTasks(
  { desired, differences }: AddonProposal,
  options: AddonTaskOptions,
  networkAddon: string | undefined,
): readonly AddonTask[] {
  const addon = desired.find(({ name }) => name === networkAddon)
  const difference = differences.find((one) => one.addon === networkAddon)
  if (addon === undefined || difference === undefined || !isFeasible(difference)) return []
  if (!isEntirelyNew(difference) && difference.unfinished !== true) return []
  const others = desired.filter(({ name }) => name !== addon.name)
  const title = `objects of the network addon ${addon.name}`
  const work = async (): Promise<void> => {
    const deadline = options.now().getTime() + addon.timeoutMs
    await reportFindings(
      options,
      options.client.applyAddon({ ...addon, wait: false }, { ...options, deadline, others }),
    )
  }
  return [{ name: title, title, work }]
}

/** True if the addon is part of hyperkube. */
function isBuiltIn({ name }: DesiredAddon): boolean {
  return builtInAddons.some((known) => known === name)
}

function buildAddonTask(names: string, done: () => Promise<void>): AddonTask {
  return { name: `addon ${names}`, title: `addon ${names}`, work: done }
}

async function reportFindings({ emit }: AddonTaskOptions, outcome: Promise<ApplyAddonResult>): Promise<void> {
  for (const finding of (await outcome).findings) emit({ type: 'finding', finding })
}

/**
 * Applies addons while hosts are still being changed. Disposing this object aborts requests that are still
 * running.
 */
export interface EarlyApply extends AsyncDisposable {
  begin(): void
  /**
   * Waits for the requests that `begin` started. Errors are ignored here, because the later regular apply
   * reports them.
   */
  end(): Promise<void>
}

export interface EarlyApplyOptions {
  readonly client: Pick<ClusterClient, 'applyAddonNoWait'>
  readonly now: () => Date
  readonly signal: AbortSignal
}

/**
 * Milliseconds for applying addons early. Applying usually takes only a second or two, because it does not
 * wait for workloads.
 */
const earlyTimeoutMs = 60_000

/**
 * Applies new built-in addons early, before nodes exist, so that their pods start as soon as nodes are ready.
 * Changes to existing addons wait for their regular step.
 */
export function createEarlyApply(
  { desired, differences }: AddonProposal,
  { client, now, signal }: EarlyApplyOptions,
): EarlyApply {
  const newAddons = new Set(
    differences.filter((one) => isEntirelyNew(one) && isFeasible(one)).map(({ addon }) => addon),
  )
  const stop = new AbortController()
  let applying: Promise<unknown> = Promise.resolve()
  return {
    begin() {
      const options = {
        emit: () => undefined,
        now,
        deadline: now().getTime() + earlyTimeoutMs,
        signal: AbortSignal.any([signal, stop.signal]),
      }
      const all = desired
        .filter((addon) => isBuiltIn(addon) && newAddons.has(addon.name))
        .map(async (addon) => {
          const others = desired.filter(({ name }) => name !== addon.name)
          await client.applyAddonNoWait(addon, { ...options, others })
        })
      applying = Promise.allSettled(all)
    },
    async end() {
      await applying
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await applying
    },
  }
}
