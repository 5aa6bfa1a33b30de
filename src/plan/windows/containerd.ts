import { win32 } from 'node:path'
import {
  listSandboxImages,
  planContainerdFiles,
  planProxyEnvironment,
  renderContainerdConfig,
} from '../containerd-config.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { buildComponentPlan, type ComponentPlanner, type WindowsPlanContext } from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import {
  buildWindowsPlanPaths,
  componentSettingsPath,
  containerdEndpoint,
  containerdPipe,
  foreignPluginDirectory,
  planPrivateDirectory,
  systemAccount,
  windowsCniDirectory,
  windowsProgramDirectory,
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
  const proxy = planProxyEnvironment(context, paths)
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
      description: 'containerd container runtime',
      program: win32.join(program.directory, 'containerd.exe'),
      arguments: [
        // Runs containerd as a Windows service. `containerd --register-service` would set the same argument.
        '--run-service',
        `--config=${at('config.toml')}`,
        // Without this flag, containerd as a Windows service writes no log.
        `--log-file=${win32.join(logs, 'containerd.log')}`,
      ],
      // Windows has no environment files. checkProxy refuses a proxy with a login.
      environment: { ...buildProxyVariables(cluster), ...proxy.variables },
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

function buildProxyVariables({ spec }: Cluster): Record<string, string> {
  const { proxy } = spec
  return {
    ...(proxy?.http === undefined ? {} : { HTTP_PROXY: proxy.http }),
    ...(proxy?.https === undefined ? {} : { HTTPS_PROXY: proxy.https }),
  }
}
