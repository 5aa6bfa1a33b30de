import { win32 } from 'node:path'
import { buildComponentPlan, type ComponentPlanner } from '../component.ts'
import type { WindowsPlanContext } from '../context.ts'
import { planAgentSetup } from './agent-setup.ts'
import { planPrivateDirectory, buildWindowsPlanPaths, windowsProgramDirectory } from './paths.ts'

const name = 'hyperkube-agent'

export const planWindowsAgent: ComponentPlanner<WindowsPlanContext> = (context) => {
  const { version } = context
  const { state } = buildWindowsPlanPaths(context)
  const directory = windowsProgramDirectory(context)('hyperkube', version)
  const { artifact, service } = planAgentSetup(context, version)
  return buildComponentPlan({
    name,
    stage: 'prepare',
    version,
    directories: [planPrivateDirectory(win32.join(state, 'agent'))],
    artifacts: [{ from: 'this-release', name: 'hyperkube', version, directory }, artifact],
    service,
  })
}
