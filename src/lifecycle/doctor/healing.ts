import type { ComponentHealth, HealAction, HostHealth } from '../../contract/health.ts'
import type { HealingStatus } from './diagnosis.ts'

const actionTexts: Readonly<Record<HealAction['action'], string>> = {
  restart: 'restarted the component',
  regenerate: 'regenerated derived files',
  repair: 'repaired the files of the plan',
  'capture-logs': 'captured logs',
  'give-up': 'stopped healing',
  refuse: 'refused to act',
  recovered: 'confirmed recovery',
}

/** Describes an action in the past tense. */
export function formatHealAction({
  action,
  outcome,
  because,
}: Pick<HealAction, 'action' | 'outcome' | 'because'>): string {
  const failed = outcome === 'failed' ? ', which failed' : ''
  return `${actionTexts[action]}${failed}: ${because}`
}

/**
 * Describes what the agent does about a component. `isExhausted` is true if the agent has used all healing
 * actions.
 */
export function describeHealing(
  { paused, suspended, actions, components }: HostHealth,
  name: string,
): { readonly healing: HealingStatus; readonly isExhausted: boolean } | undefined {
  const component = components.find((health) => health.component === name)
  if (component === undefined) return undefined
  // If the last action is a recovery, all actions belong to an earlier problem and are not shown.
  const last = actions.find((action) => action.component === name)
  const lastAction =
    last === undefined || last.action === 'recovered'
      ? {}
      : { lastAction: `${last.at} ${formatHealAction(last)}` }
  if (paused !== undefined) {
    return {
      healing: { ...lastAction, nextAction: `nothing until ${paused.until}: paused by ${paused.by}` },
      isExhausted: false,
    }
  }
  if (suspended !== undefined)
    return { healing: { ...lastAction, nextAction: `nothing for now: ${suspended}` }, isExhausted: false }
  return {
    healing: { ...lastAction, nextAction: describeNext(component) },
    isExhausted: component.state === 'exhausted',
  }
}

const nextTexts: Readonly<Record<ComponentHealth['state'], string>> = {
  healthy: 'watches; acts after several failures in a row',
  unhealthy: 'acts after several failures in a row',
  healing: 'waits for the result',
  blocked: 'waits',
  exhausted: 'an operator is needed',
}

function describeNext({ state, because }: ComponentHealth): string {
  return because === undefined ? nextTexts[state] : `${nextTexts[state]}: ${because}`
}
