import type { Finding } from '../../contract/finding.ts'
import type { HostTrial } from '../../contract/provisional-change.ts'
import { list } from '../../rollout/format-names.ts'

/** By name of host. */
export type Trials = ReadonlyMap<string, HostTrial>
type In<S extends HostTrial['state']> = Extract<HostTrial, { state: S }>
export type OnTrial = ReadonlyMap<string, In<'on-trial'>>

export function onTrial(trials: Trials): OnTrial {
  return new Map([...trials].flatMap(([host, one]) => (one.state === 'on-trial' ? [[host, one]] : [])))
}

export function wentBack(trials: Trials): ReadonlyMap<string, In<'went-back'>> {
  return new Map([...trials].flatMap(([host, one]) => (one.state === 'went-back' ? [[host, one]] : [])))
}

/** Until when: the first of them then begins to go back. */
export function endOf(trials: OnTrial): string {
  return instant([...trials.values()].map(({ deadline }) => deadline).toSorted()[0] ?? '')
}

/** A moment as people read it, to the second. */
export function instant(time: string): string {
  return time.replace(/\.\d+Z$/, 'Z')
}

/** As a warning for those who only look; nothing is done to hosts that may go back at any moment. */
export function trialUnderWay(trials: Trials, severity: Finding['severity']): Finding[] {
  const on = onTrial(trials)
  if (on.size === 0) return []
  const hosts = [...on.keys()]
  return [
    {
      code: 'TRIAL_UNDER_WAY',
      severity,
      message: `${list(hosts)} ${hosts.length === 1 ? 'is' : 'are'} on trial until ${endOf(on)}, and then ${hosts.length === 1 ? 'goes' : 'go'} back`,
      hint: 'hyperkube trial keep keeps it, hyperkube trial back goes back now; the same hyperkube up --trial goes on with it',
    },
  ]
}
