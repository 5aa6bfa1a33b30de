import { win32 } from 'node:path'
import { planDownload } from '../download.ts'
import { buildComponentPlan, type ComponentPlanner } from '../component.ts'
import { renderContainerdConfig, planContainerdFiles } from '../containerd-config.ts'
import { planTextFile } from '../files.ts'
import { listSandboxImages } from '../sandbox-images.ts'
import { buildProxyVariables } from '../proxy-variables.ts'
import type { WindowsPlanContext } from '../context.ts'
import {
  planPrivateDirectory,
  windowsCniDirectory,
  containerdEndpoint,
  containerdPipe,
  foreignPluginDirectory,
  systemAccount,
  buildWindowsPlanPaths,
  windowsProgramDirectory,
  componentSettingsPath,
} from './paths.ts'
import { buildScmService } from './service.ts'

const name = 'containerd'

export const planWindowsContainerd: ComponentPlanner<WindowsPlanContext> = (context) => {
  const { cluster } = context
  const { state, logs } = buildWindowsPlanPaths(context)
  const at = componentSettingsPath(context, name)
  const data = win32.join(state, name)
  const toDirectory = windowsProgramDirectory(context)
  const program = planDownload(context, name, toDirectory, { kind: 'archive', strip: 1 })
  const plugins = planDownload(context, 'cni-plugins', toDirectory, { kind: 'archive', strip: 0 })
  const paths = {
    owner: systemAccount,
    at,
    address: containerdPipe,
    pluginDirectories: [plugins.directory, foreignPluginDirectory],
    networkDirectory: windowsCniDirectory,
  }
  const config = renderContainerdConfig(context, paths, {
    settings: [
      `root = ${JSON.stringify(win32.join(data, 'root'))}`,
      `state = ${JSON.stringify(win32.join(data, 'state'))}`,
    ],
  })
  return buildComponentPlan({
    name,
    stage: 'node',
    version: program.version,
    directories: [at(), at('certs.d'), data, windowsCniDirectory, foreignPluginDirectory].map(
      planPrivateDirectory,
    ),
    artifacts: [program, plugins],
    images: listSandboxImages(context),
    files: [
      planTextFile(at('config.toml'), config, { owner: systemAccount }),
      ...planContainerdFiles(context, paths),
    ],
    service: buildScmService({
      name,
      description: 'containerd, which runs containers',
      program: win32.join(program.directory, 'containerd.exe'),
      arguments: [
        // Argument that `containerd --register-service` also uses.
        '--run-service',
        `--config=${at('config.toml')}`,
        // Without this flag, containerd as a Windows service writes no log.
        `--log-file=${win32.join(logs, 'containerd.log')}`,
      ],
      environment: buildProxyVariables(cluster),
      native: true,
    }),
    probes: [
      {
        name: 'cri',
        scope: 'local',
        check: { kind: 'cri', endpoint: containerdEndpoint },
        intervalMs: 10_000,
        timeoutMs: 10_000,
        failureThreshold: 6,
      },
    ],
  })
}
