import type { NodePlan } from '../../../contract/node-plan.ts'
import { captureLogs as capture } from '../../heal/actions/capture-logs.ts'
import { unitOf } from '../../heal/actions/restart-component.ts'
import type { LinuxHost, WindowsHost } from '../../host/host.ts'
import type { Deeds } from '../request-handlers.ts'
import { cannot } from './handler-errors.ts'

export interface CaptureScene {
  readonly host: LinuxHost | Pick<WindowsHost, 'os' | 'layout'>
  readonly plan: () => Promise<NodePlan | undefined>
}

/** Of components of the plan alone: a name from elsewhere would become part of a path. */
export function captureLogs({ host, plan }: CaptureScene): Deeds['capture-logs'] {
  return async ({ component }) => {
    if (host.os === 'windows') {
      throw cannot('logs of a Windows host are files as they are', `on the host: dir ${host.layout.logs}`)
    }
    const current = await plan()
    const unit = current && unitOf(current, component)
    if (unit === undefined) {
      throw cannot('this host has no service of that name', 'hyperkube status names those that it has')
    }
    return capture(host, component, unit.name)
  }
}
