import type { NodePlan } from '../../../contract/node-plan.ts'
import { captureServiceLogs as capture } from '../../heal/actions/capture-logs.ts'
import { findUnit } from '../../heal/actions/restart-component.ts'
import type { LinuxHost, WindowsHost } from '../../host/host.ts'
import type { RequestHandlers } from '../request-handlers.ts'
import { unsupportedError } from './handler-errors.ts'

export interface CaptureLogsDeps {
  readonly host: LinuxHost | Pick<WindowsHost, 'os' | 'layout'>
  readonly plan: () => Promise<NodePlan | undefined>
}

/** Accepts only names of components in the plan, because the name becomes part of a path. */
export function createCaptureLogsHandler({ host, plan }: CaptureLogsDeps): RequestHandlers['capture-logs'] {
  return async ({ component }) => {
    if (host.os === 'windows') {
      throw unsupportedError(
        'logs of a Windows host are files as they are',
        `on the host: dir ${host.layout.logs}`,
      )
    }
    const current = await plan()
    const unit = current && findUnit(current, component)
    if (unit === undefined) {
      throw unsupportedError(
        'this host has no service of that name',
        'hyperkube status names those that it has',
      )
    }
    return capture(host, component, unit.name)
  }
}
