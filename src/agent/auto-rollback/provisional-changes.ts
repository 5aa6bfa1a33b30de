import type { NodePlan } from '../../contract/node-plan.ts'
import type { HostTrial, Trial } from '../../contract/provisional-change.ts'
import type { TrialMemory } from '../../contract/provisional-state.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Emit } from '../apply/emit-run-event.ts'
import { lastPlan } from '../apply/applied-plan.ts'
import type { Host } from '../host/host.ts'
import { goBack } from './rollback.ts'
import { forgetTrial, readTrial, writeTrial } from './trial-memory.ts'

/** What is tried on a host, and what becomes of it. */
export interface HostTrials {
  now(): Promise<HostTrial | undefined>
  /** What a trial that is under way goes back to, or one that begins now would. */
  former(): Promise<NodePlan | undefined>
  /** From now on it goes back to what it is now. Of the one that is under way only the times are others. */
  begin(trial: Trial): Promise<HostTrial | undefined>
  move(id: string, deadline: string): Promise<HostTrial | undefined>
  keep(id: string): Promise<HostTrial | undefined>
  /** Something else is done to the host: that it went back once is not worth telling any more. */
  forgetPast(): Promise<void>
  /** Does nothing where nothing is on trial any more. */
  goBack(run: string, emit: Emit, signal: AbortSignal): Promise<void>
}

const head = { apiVersion: 'hyperkube.dev/v1', kind: 'TrialMemory' } as const

export function hostTrials(host: Host): HostTrials {
  // Who goes back forgets the trial at the end: it must not be another one by then.
  let goesBack = false

  const write = async (memory: TrialMemory): Promise<HostTrial> => {
    await writeTrial(host, memory)
    return told(memory)
  }
  /** The one with this id, where it is under way. */
  const underWay = async (id: string): Promise<Extract<TrialMemory, { state: 'on-trial' }> | undefined> => {
    if (goesBack) throw busy()
    const memory = await readTrial(host)
    if (memory?.state !== 'on-trial') return undefined
    if (memory.trial.id !== id) throw other(memory.trial)
    return memory
  }
  const now = async (): Promise<HostTrial | undefined> => {
    const memory = await readTrial(host)
    return memory === undefined ? undefined : told(memory)
  }

  return {
    now,
    async former() {
      const memory = await readTrial(host)
      return memory?.state === 'on-trial' ? memory.former : lastPlan(host)
    },
    async begin(trial) {
      const former = (await underWay(trial.id))?.former ?? (await lastPlan(host))
      if (former === undefined) throw nothingBefore()
      return write({ ...head, trial, state: 'on-trial', former })
    },
    async move(id, deadline) {
      const memory = await underWay(id)
      return memory === undefined ? now() : write({ ...memory, trial: { ...memory.trial, deadline } })
    },
    async keep(id) {
      if ((await underWay(id)) !== undefined) await forgetTrial(host)
      return now()
    },
    async forgetPast() {
      if ((await readTrial(host))?.state === 'went-back') await forgetTrial(host)
    },
    async goBack(run, emit, signal) {
      goesBack = true
      try {
        const memory = await readTrial(host)
        if (memory?.state !== 'on-trial') return
        const { trial, former } = memory
        await goBack({ host, trial, former, run, emit, signal })
        await write({ ...head, trial, state: 'went-back', at: host.clock.now().toISOString() })
      } finally {
        goesBack = false
      }
    },
  }
}

function told(memory: TrialMemory): HostTrial {
  const { state, trial } = memory
  return state === 'on-trial' ? { ...trial, state } : { ...trial, state, at: memory.at }
}

function busy(): HyperkubeError {
  return new HyperkubeError('TRIAL_GOES_BACK', 'it goes back from a trial at this very moment', {
    hint: 'that takes some minutes at most; once hyperkube status says that it went back, the same command again',
  })
}

function other({ deadline }: Trial): HyperkubeError {
  return new HyperkubeError('TRIAL_OTHER', `something else is on trial there, until ${deadline}`, {
    hint: 'hyperkube trial keep keeps it, hyperkube trial back goes back from it now',
  })
}

function nothingBefore(): HyperkubeError {
  return new HyperkubeError(
    'TRIAL_FIRST',
    'it was never taken through a whole plan: there is nothing to go back to',
    {
      hint: 'without --trial first: hyperkube up',
    },
  )
}
