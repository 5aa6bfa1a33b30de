import type { HealAction } from '../../../contract/health.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { findStepComponent, type ReconcileStep } from '../../windows-worker/step.ts'
import type { WorkerSpec } from '../../windows-worker/worker.ts'

/** How a step is reported. */
export interface StepMessage {
  /** Name of the component that the step belongs to. */
  readonly component: string
  readonly action: HealAction['action']
  readonly text: string
  /** Finding code, if the step is a finding. */
  readonly code?: string
  /** Op of the run, if the step concerns a resource of the plan. */
  readonly op: Op | undefined
}

export function formatStepMessage(step: ReconcileStep, spec: WorkerSpec, plan: NodePlan): StepMessage {
  const component = findStepComponent(step, spec)
  const buildMessage = (action: HealAction['action'], text: string, op?: Op): StepMessage => ({
    component,
    action,
    text,
    op,
  })
  const buildOp = (action: Op['action'], target: Op['target'], name: string): Op => ({
    component,
    stage: plan.components.find((one) => one.name === component)?.stage ?? 'prepare',
    action,
    target,
    name,
    because: [],
  })
  switch (step.do) {
    case 'allow':
      return buildMessage(
        'repair',
        `firewall rule ${step.rule}`,
        buildOp('change', 'firewall-rule', step.rule),
      )
    case 'route':
      return buildMessage('repair', `the route to ${step.destination}`)
    case 'fetch':
      return buildMessage('repair', `its binary`)
    case 'move':
    case 'discard': {
      const path = step.do === 'move' ? step.to : step.path
      return buildMessage('repair', `${step.do} ${path}`)
    }
    case 'put': {
      const name = spec.services[step.role]?.service.name ?? step.role
      return buildMessage('repair', 'its service', buildOp('change', 'service', name))
    }
    case 'start':
    case 'stop': {
      const name = spec.services[step.role]?.service.name ?? step.role
      return buildMessage('restart', `${step.do} it`, buildOp(step.do, 'service', name))
    }
    case 'end':
      return buildMessage('restart', `its process ${step.process.id} ${step.why}`)
    case 'reopen':
      return buildMessage('restart', `${step.role} does not start`)
    case 'give-up':
      return {
        ...buildMessage('give-up', 'it does not start after all healing steps'),
        code: 'HEAL_EXHAUSTED',
      }
    case 'start-hns':
      return buildMessage('regenerate', 'start service hns')
    case 'hold':
      return buildMessage('regenerate', `create a network that keeps the switch on ${step.adapter}`)
    case 'drop-network':
      return buildMessage('regenerate', `network ${step.name} has the wrong type`)
    case 'reserve':
      return buildMessage('regenerate', `reserve a source address in ${step.subnet}`)
    default:
      return buildMessage('regenerate', 'its source address is in another subnet')
  }
}
