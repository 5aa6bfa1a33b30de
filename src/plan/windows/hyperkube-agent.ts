import { win32 } from 'node:path'
import type { PlannedArtifact } from '../../contract/component-plan.ts'
import type { ScmServiceSpec } from '../../contract/service.ts'
import { buildComponentPlan, type ComponentPlanner, type WindowsPlanContext } from '../context.ts'
import { planDownloadSettings } from '../download-route.ts'
import {
  buildWindowsPlanPaths,
  componentSettingsPath,
  planPrivateDirectory,
  systemAccount,
  windowsProgramDirectory,
} from './paths.ts'
import { buildScmService, planServiceWrapper, type RunnerContext } from './service.ts'

const name = 'hyperkube-agent'

export const planWindowsAgent: ComponentPlanner<WindowsPlanContext> = (context) => {
  const { version } = context
  const { state } = buildWindowsPlanPaths(context)
  const directory = windowsProgramDirectory(context)('hyperkube', version)
  const { artifact, service } = planAgentSetup(context, version)
  const at = componentSettingsPath(context, name)
  const files = planDownloadSettings(context, systemAccount, at)
  return buildComponentPlan({
    name,
    stage: 'prepare',
    version,
    directories: [
      planPrivateDirectory(win32.join(state, 'agent')),
      ...(files.length === 0 ? [] : [planPrivateDirectory(at())]),
    ],
    artifacts: [{ from: 'this-release', name: 'hyperkube', version, directory }, artifact],
    files,
    service,
  })
}

/**
 * Service of the agent and the artifact of its wrapper. Both are needed before facts of the host are known.
 */
interface AgentSetup {
  readonly artifact: PlannedArtifact
  readonly service: ScmServiceSpec
}

export function planAgentSetup(context: RunnerContext, version: string): AgentSetup {
  const { base } = buildWindowsPlanPaths(context)
  const { artifact, runner } = planServiceWrapper(context, name)
  const service = buildScmService({
    name,
    description: 'hyperkube agent',
    program: toHyperkubeProgram(context, version),
    // The agent needs its base directory before it has read a plan.
    arguments: ['agent', `--base-directory=${base}`],
    native: false,
    runner,
  })
  return { artifact, service }
}

/**
 * Builds the service that rolls back to the previous agent after a timeout. It runs the previous program,
 * because the new one may be broken.
 */
export function buildRevertService(
  context: RunnerContext,
  previousVersion: string,
  after: number,
): ScmServiceSpec {
  const revertName = 'hyperkube-revert'
  return buildScmService({
    name: revertName,
    description: 'rolls back to the previous hyperkube agent if the new one does not respond',
    program: toHyperkubeProgram(context, previousVersion),
    arguments: [
      'agent-revert',
      `--base-directory=${buildWindowsPlanPaths(context).base}`,
      `--after=${after}`,
    ],
    native: false,
    runner: planServiceWrapper(context, revertName).runner,
  })
}

function toHyperkubeProgram(context: RunnerContext, version: string): string {
  return win32.join(windowsProgramDirectory(context)('hyperkube', version), 'hyperkube.exe')
}
