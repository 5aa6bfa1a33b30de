import type { HealAction } from '../../../contract/health.ts'
import type { Note } from '../../../kube/events.ts'

type Told = Record<HealAction['outcome'], string>

/** What is said of an action, with the component after it. */
const verbs: Readonly<Record<HealAction['action'], Told>> = {
  restart: { done: 'restarted', failed: 'could not restart' },
  rebuild: { done: 'made anew what is derived for', failed: 'could not make anew what is derived for' },
  'put-back': { done: 'put back what had changed of', failed: 'could not put back all that had changed of' },
  'capture-logs': { done: 'kept the log of', failed: 'could not keep the log of' },
  'give-up': { done: 'gave up on', failed: 'gave up on' },
  refuse: { done: 'leave alone', failed: 'leave alone' },
  recovered: { done: 'saw well again', failed: 'saw well again' },
}

/** Reasons of events, for programs. */
const reasons: Readonly<Record<HealAction['action'], string>> = {
  restart: 'HyperkubeRestarted',
  rebuild: 'HyperkubeRebuilt',
  'put-back': 'HyperkubePutBack',
  'capture-logs': 'HyperkubeCapturedLogs',
  'give-up': 'HyperkubeGaveUp',
  refuse: 'HyperkubeRefused',
  recovered: 'HyperkubeRecovered',
}

/** One line for the agent's log; what was captured is elsewhere. */
export function lineOf(action: HealAction): string {
  const { details } = action
  const shown = action.action === 'capture-logs' ? details.slice(0, 1) : details
  const more = shown.length === 0 ? '' : ` (${shown.join('; ')})`
  return `heal: ${sentence(action)}${more}`.replaceAll('\n', ' ')
}

/** As `kubectl describe node` shows it. */
export function noteOf(action: HealAction): Note {
  const isGood = action.action === 'recovered' || (action.action === 'put-back' && action.outcome === 'done')
  return {
    type: isGood ? 'Normal' : 'Warning',
    reason: action.outcome === 'done' ? reasons[action.action] : `${reasons[action.action]}Failed`,
    action: 'Heal',
    note: sentence(action),
  }
}

function sentence({ action, component, because, code, outcome }: HealAction): string {
  const why = code === undefined ? because : `${because} (${code})`
  return `${verbs[action][outcome]} ${component}: ${why}`
}
