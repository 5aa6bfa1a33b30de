import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Args } from '../../plan/args.ts'

export function findPlannedComponent({ components }: NodePlan, name: string): ComponentPlan | undefined {
  return components.find((component) => component.name === name)
}

/** Reads the flags in the planned unit of a component. Each flag has its own line there. */
export function readServiceArgs(plan: NodePlan, component: string): Args {
  const service = findPlannedComponent(plan, component)?.service
  if (service?.supervisor !== 'systemd') return {}
  const lines = service.unit.matchAll(/^ {2}(?:"(--.*)"|(--\S*))(?: \\)?$/gm)
  return Object.fromEntries(
    [...lines].flatMap(([, quoted, plain = '']) => {
      const text = (quoted === undefined ? plain : unquote(quoted))
        .replaceAll('%%', '%')
        .replaceAll('$$', '$')
      const [, name, value] = /^--([\w.-]+)=(.*)$/s.exec(text) ?? []
      return name === undefined || value === undefined ? [] : [[name, value] as const]
    }),
  )
}

/** Undoes the quoting of systemd. */
function unquote(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
}
