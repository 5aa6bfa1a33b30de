import type { HostTrial } from '../../contract/provisional-change.ts'
import type { Claim } from '../../contract/request.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { settleAll } from '../../kit/settle-all.ts'
import type { Session } from '../session.ts'
import type { PlannedTrial } from './plan-provisional.ts'

/** By name of host. */
type TrialIds = ReadonlyMap<string, { readonly id: string }>
type Agents = ReadonlyMap<string, Pick<Session, 'ask'>>

/** Before anything else is done to them: from now on these hosts go back by themselves, whatever becomes of us. */
export async function beginTrial(
  { id, time, hosts }: PlannedTrial,
  agents: Agents,
  claim: Claim,
): Promise<void> {
  await eachOf(hosts, agents, async (agent, { plan, slot }) => {
    const deadline = await inTime(agent, time)
    await agent.ask({ type: 'begin-trial', claim, trial: { id, plan, deadline, slot } }, 'trial')
  })
}

/** All is done: the time counts from now on. */
export async function extendTrial(
  { id, time, hosts }: PlannedTrial,
  agents: Agents,
  claim: Claim,
): Promise<void> {
  await eachOf(hosts, agents, async (agent, _, host) => {
    const trial = await move(agent, claim, id, time)
    if (trial?.state !== 'on-trial') throw over(host)
  })
}

/** They go back now, each in its slot. */
export async function endTrial(trials: TrialIds, agents: Agents, claim: Claim): Promise<void> {
  await eachOf(trials, agents, async (agent, { id }) => move(agent, claim, id, 0))
}

/** Answers with those that went back before they could be told. */
export async function keepTrial(trials: TrialIds, agents: Agents, claim: Claim): Promise<string[]> {
  const late = await eachOf(trials, agents, async (agent, { id }, host) => {
    const { trial } = await agent.ask({ type: 'keep-trial', claim, id }, 'trial')
    return trial === undefined ? [] : [host]
  })
  return late.flat()
}

async function move(
  agent: Pick<Session, 'ask'>,
  claim: Claim,
  id: string,
  within: number,
): Promise<HostTrial | undefined> {
  const deadline = await inTime(agent, within)
  return (await agent.ask({ type: 'move-trial', claim, id, deadline }, 'trial')).trial
}

/** By the host's own clock, which is the one that it will look at. */
async function inTime(agent: Pick<Session, 'ask'>, within: number): Promise<string> {
  const { time } = await agent.ask({ type: 'clock' }, 'clock')
  return new Date(time + within).toISOString()
}

async function eachOf<T, R>(
  hosts: ReadonlyMap<string, T>,
  agents: Agents,
  work: (agent: Pick<Session, 'ask'>, one: T, host: string) => Promise<R>,
): Promise<R[]> {
  return settleAll(
    [...hosts].flatMap(([host, one]) => {
      const agent = agents.get(host)
      return agent === undefined ? [] : [work(agent, one, host)]
    }),
  )
}

function over(host: string): HyperkubeError {
  return new HyperkubeError('TRIAL_OVER', 'it is not on trial any more', {
    host,
    hint: 'hyperkube plan shows what is to be done; the same command tries it again',
  })
}
