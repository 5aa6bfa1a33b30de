import { win32 } from 'node:path'
import { download } from '../download.ts'
import { component, type Planner } from '../component.ts'
import { containerdConfig, containerdFiles } from '../containerd-config.ts'
import { textFile } from '../files.ts'
import { sandboxImages } from '../sandbox-images.ts'
import { proxyVariables } from '../proxy-variables.ts'
import type { WindowsScene } from '../context.ts'
import {
  closedDirectory,
  cniConfiguration,
  containerdEndpoint,
  containerdPipe,
  foreignPlugins,
  owner,
  placesOf,
  programDirectory,
  settingsOf,
} from './paths.ts'
import { scmService } from './service.ts'

const name = 'containerd'

export const containerd: Planner<WindowsScene> = (scene) => {
  const { cluster } = scene
  const { state, logs } = placesOf(scene)
  const at = settingsOf(scene, name)
  const data = win32.join(state, name)
  const directoryOf = programDirectory(scene)
  const program = download(scene, name, directoryOf, { kind: 'archive', strip: 1 })
  const plugins = download(scene, 'cni-plugins', directoryOf, { kind: 'archive', strip: 0 })
  const places = {
    owner,
    at,
    address: containerdPipe,
    plugins: [plugins.directory, foreignPlugins],
    networks: cniConfiguration,
  }
  const config = containerdConfig(scene, places, {
    settings: [
      `root = ${JSON.stringify(win32.join(data, 'root'))}`,
      `state = ${JSON.stringify(win32.join(data, 'state'))}`,
    ],
  })
  return component({
    name,
    stage: 'node',
    version: program.version,
    directories: [at(), at('certs.d'), data, cniConfiguration, foreignPlugins].map(closedDirectory),
    artifacts: [program, plugins],
    images: sandboxImages(scene),
    files: [textFile(at('config.toml'), config, { owner }), ...containerdFiles(scene, places)],
    service: scmService({
      name,
      description: 'containerd, which runs containers',
      program: win32.join(program.directory, 'containerd.exe'),
      arguments: [
        // As it registers itself, had we asked it to.
        '--run-service',
        `--config=${at('config.toml')}`,
        // As a service it says nothing anywhere else.
        `--log-file=${win32.join(logs, 'containerd.log')}`,
      ],
      environment: proxyVariables(cluster),
      native: true,
    }),
    probes: [
      {
        name: 'cri',
        scope: 'local',
        check: { kind: 'cri', endpoint: containerdEndpoint },
        every: 10_000,
        timeout: 10_000,
        failures: 6,
      },
    ],
  })
}
