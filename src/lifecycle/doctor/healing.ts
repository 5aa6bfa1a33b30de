import type { ComponentHealth, HealAction, HostHealth } from '../../contract/health.ts'
import type { Healing } from './diagnosis.ts'

const done: Readonly<Record<HealAction['action'], string>> = {
  restart: 'restarted it',
  rebuild: 'made anew what is derived',
  'put-back': 'put back the plan’s files',
  'capture-logs': 'kept its logs',
  'give-up': 'gave up',
  refuse: 'refused to act',
  recovered: 'saw it well again',
}

/** What was done, as one says it afterwards. */
export function actionText({
  action,
  outcome,
  because,
}: Pick<HealAction, 'action' | 'outcome' | 'because'>): string {
  const failed = outcome === 'failed' ? ', which failed' : ''
  return `${done[action]}${failed}: ${because}`
}

/** What the agent makes of a component, and whether that is the end of what it can do. */
export function healingOf(
  { paused, idle, actions, components }: HostHealth,
  name: string,
): { readonly healing: Healing; readonly isOver: boolean } | undefined {
  const component = components.find((one) => one.component === name)
  if (component === undefined) return undefined
  // Before it was last well is another story.
  const last = actions.find((action) => action.component === name)
  const did =
    last === undefined || last.action === 'recovered' ? {} : { did: `${last.at} ${actionText(last)}` }
  if (paused !== undefined) {
    return {
      healing: { ...did, next: `nothing until ${paused.until}: paused by ${paused.by}` },
      isOver: false,
    }
  }
  if (idle !== undefined) return { healing: { ...did, next: `nothing for now: ${idle}` }, isOver: false }
  return { healing: { ...did, next: nextOf(component) }, isOver: component.state === 'given-up' }
}

const next: Readonly<Record<ComponentHealth['state'], string>> = {
  well: 'looks on; it acts when the same is seen a few times in a row',
  unwell: 'acts when the same is seen a few times in a row',
  healing: 'waits for what comes of it',
  held: 'holds back',
  'given-up': 'a person is needed',
}

function nextOf({ state, because }: ComponentHealth): string {
  return because === undefined ? next[state] : `${next[state]}: ${because}`
}
