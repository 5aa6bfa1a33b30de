import { posix } from 'node:path'
import { download } from '../download.ts'
import { component, type Planner } from '../component.ts'
import { containerdConfig, containerdFiles } from '../containerd-config.ts'
import { textFile } from '../files.ts'
import { sandboxImages } from '../sandbox-images.ts'
import { memoryFloor } from '../memory-floors.ts'
import { proxyVariables } from '../proxy-variables.ts'
import { isNode, type LinuxScene } from '../context.ts'
import { cniConfiguration, containerdSocket, etc, programDirectory } from './paths.ts'
import { local, remote } from './probes.ts'
import { environment, systemdService } from './unit.ts'

const name = 'containerd'
const directory = `${etc}/containerd`
const endpoint = `unix://${containerdSocket}`
const root = { owner: 'root' }
/** Where other networks than ours put their programs. */
const foreignPlugins = '/opt/cni/bin'
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export const containerd: Planner<LinuxScene> = (scene) => {
  if (!isNode(scene)) return undefined
  const { cluster, system } = scene
  const program = download(scene, name, programDirectory, { kind: 'archive', strip: 1 })
  const runc = download(scene, 'runc', programDirectory, { kind: 'program', as: 'runc' })
  const plugins = cniPlugins(scene)
  const crictl = download(scene, 'crictl', programDirectory, { kind: 'archive', strip: 0 })
  const places = {
    owner: 'root',
    at: (...parts: readonly string[]) => posix.join(directory, ...parts),
    address: containerdSocket,
    plugins: [plugins.directory, foreignPlugins],
    networks: cniConfiguration,
  }
  const config = containerdConfig(scene, places, { tables: runtime(scene, runc.directory) })
  return component({
    name,
    stage: 'node',
    version: program.version,
    directories: [
      { path: directory, owner: 'root', mode: '0700' },
      { path: `${directory}/certs.d`, owner: 'root', mode: '0700' },
      { path: cniConfiguration, owner: 'root', mode: '0755' },
      { path: foreignPlugins, owner: 'root', mode: '0755' },
    ],
    artifacts: [program, runc, plugins, crictl],
    images: sandboxImages(scene),
    files: [
      textFile(`${directory}/config.toml`, config, root),
      ...containerdFiles(scene, places),
      textFile('/etc/crictl.yaml', `runtime-endpoint: ${endpoint}\n`, {
        ...root,
        mode: '0644',
        restart: false,
      }),
    ],
    service: systemdService(
      {
        name,
        description: 'containerd, which runs containers',
        type: 'notify',
        command: [`${program.directory}/${name}`, `--config=${directory}/config.toml`],
        memoryFloor: memoryFloor(name),
        settings: [
          // Containers are not its own and must outlive it.
          ['KillMode', 'process'],
          ['Delegate', 'yes'],
          ['TasksMax', 'infinity'],
          // Its shims are found on the path.
          environment('PATH', [program.directory, runc.directory, systemPath].join(':')),
          ...Object.entries(proxyVariables(cluster)).map(([variable, value]) => environment(variable, value)),
        ],
      },
      system,
    ),
    probes: [
      local({ name: 'health', check: { kind: 'grpc', endpoint } }),
      local({ name: 'cri', check: { kind: 'cri', endpoint }, every: 10_000, timeout: 10_000 }),
      // It waits for a file that others write.
      remote({ name: 'network', check: { kind: 'cri', endpoint, network: true } }),
    ],
  })
}

/** The programs that join a pod to its network. */
export function cniPlugins(scene: LinuxScene): ReturnType<typeof download> {
  return download(scene, 'cni-plugins', programDirectory, { kind: 'archive', strip: 0 })
}

/** What only Linux has: cgroups, SELinux, and a program that makes containers. */
function runtime({ system }: LinuxScene, runc: string): string[] {
  return [
    "[plugins.'io.containerd.cri.v1.runtime']",
    `  enable_selinux = ${system.selinux === 'enforcing'}`,
    // Without the right to lower a score, a pod that asks for a low one would not start.
    `  restrict_oom_score_adj = ${system.missingCapabilities.includes('CAP_SYS_RESOURCE')}`,
    '',
    "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]",
    '  runtime_type = "io.containerd.runc.v2"',
    '',
    "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]",
    `  BinaryName = ${JSON.stringify(`${runc}/runc`)}`,
    `  SystemdCgroup = ${system.cgroup.version === 2}`,
    '',
  ]
}
