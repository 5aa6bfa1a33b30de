import type { HealAction } from '../../../contract/health.ts'
import type { EventNote } from '../../../kube/event-note.ts'

type OutcomeText = Record<HealAction['outcome'], string>

/** Verb for each action. The component name follows the verb. */
const verbs: Readonly<Record<HealAction['action'], OutcomeText>> = {
  restart: { done: 'restarted', failed: 'could not restart' },
  regenerate: { done: 'regenerated derived files of', failed: 'could not regenerate derived files of' },
  repair: { done: 'repaired drift of', failed: 'could not repair all drift of' },
  'capture-logs': { done: 'kept the log of', failed: 'could not keep the log of' },
  'give-up': { done: 'gave up on', failed: 'gave up on' },
  refuse: { done: 'leave alone', failed: 'leave alone' },
  recovered: { done: 'confirmed recovery of', failed: 'confirmed recovery of' },
}

/** Event reason of each action. */
const reasons: Readonly<Record<HealAction['action'], string>> = {
  restart: 'HyperkubeRestarted',
  regenerate: 'HyperkubeRegenerated',
  repair: 'HyperkubeRepaired',
  'capture-logs': 'HyperkubeCapturedLogs',
  'give-up': 'HyperkubeHealExhausted',
  refuse: 'HyperkubeRefused',
  recovered: 'HyperkubeRecovered',
}

/** Formats an action as one line for the agent's log. Captured log lines are left out. */
export function formatLogLine(action: HealAction): string {
  const { details } = action
  const shown = action.action === 'capture-logs' ? details.slice(0, 1) : details
  const more = shown.length === 0 ? '' : ` (${shown.join('; ')})`
  return `heal: ${formatSummary(action)}${more}`.replaceAll('\n', ' ')
}

/** Converts an action to an event, which `kubectl describe node` shows. */
export function toEventNote(action: HealAction): EventNote {
  const isGood = action.action === 'recovered' || (action.action === 'repair' && action.outcome === 'done')
  return {
    type: isGood ? 'Normal' : 'Warning',
    reason: action.outcome === 'done' ? reasons[action.action] : `${reasons[action.action]}Failed`,
    action: 'Heal',
    note: formatSummary(action),
  }
}

function formatSummary({ action, component, because, code, outcome }: HealAction): string {
  const reason = code === undefined ? because : `${because} (${code})`
  return `${verbs[action][outcome]} ${component}: ${reason}`
}
