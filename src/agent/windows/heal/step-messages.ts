import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import type { Step } from '../reconcile/step.ts'
import type { WorkerWish } from '../reconcile/worker-spec.ts'

/** What a step is to those who are told of it. */
export interface StepWords {
  /** Whose it is. */
  readonly component: string
  readonly action: HealAction['action']
  readonly text: string
  /** What it is in the catalogue of findings, where it is one. */
  readonly code?: string
  /** The same as an op of a run, where it is about something of the plan. */
  readonly op: Op | undefined
}

export function wordsFor(step: Step, wish: WorkerWish, plan: NodePlan): StepWords {
  const network = 'flanneld'
  const about = (component: string, action: Op['action'], target: Op['target'], name: string): Op => ({
    component,
    stage: plan.components.find((one) => one.name === component)?.stage ?? 'prepare',
    action,
    target,
    name,
    because: [],
  })
  switch (step.do) {
    case 'allow':
      return words(
        'host',
        'put-back',
        `the rule ${step.rule}`,
        about('host', 'change', 'firewall-rule', step.rule),
      )
    case 'route':
      return words('host', 'put-back', `the route to ${step.destination}`)
    case 'fetch':
      return words(step.role, 'put-back', `a whole copy of its program`)
    case 'move':
    case 'discard': {
      const path = step.do === 'move' ? step.to : step.path
      return words(ownerOf(path, wish) ?? 'host', 'put-back', `${step.do} ${path}`)
    }
    case 'put': {
      const name = wish.services[step.role]?.service.name ?? step.role
      return words(step.role, 'put-back', 'its service', about(step.role, 'change', 'service', name))
    }
    case 'start':
    case 'stop': {
      const name = wish.services[step.role]?.service.name ?? step.role
      return words(step.role, 'restart', `${step.do} it`, about(step.role, step.do, 'service', name))
    }
    case 'end':
      return words(step.role, 'restart', `its process ${step.process.id} ${step.why}`)
    case 'reopen':
      return words('apiserver-proxy', 'restart', `${step.role} does not come up`)
    case 'give-up':
      return {
        ...words(step.role, 'give-up', 'it does not come up, whatever was tried'),
        code: 'HEAL_GAVE_UP',
      }
    case 'start-hns':
      return words(network, 'rebuild', 'start the service hns')
    case 'hold':
      return words(network, 'rebuild', `a network that keeps the switch on ${step.adapter}`)
    case 'drop-network':
      return words(network, 'rebuild', `${step.name} is of the wrong kind`)
    case 'reserve':
      return words('kube-proxy', 'rebuild', `an address of ${step.subnet} to send from`)
    default:
      return words('kube-proxy', 'rebuild', 'its address is of another subnet')
  }
}

function words(component: string, action: HealAction['action'], text: string, op?: Op): StepWords {
  return { component, action, text, op }
}

function ownerOf(path: string, { services }: WorkerWish): string | undefined {
  return Object.entries(services).find(([, one]) => path.startsWith(one.program.path))?.[0]
}
