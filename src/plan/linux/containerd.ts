import { posix } from 'node:path'
import {
  listSandboxImages,
  planContainerdFiles,
  planProxyEnvironment,
  proxyCaDirectory,
  proxyEnvironmentFile,
  renderContainerdConfig,
} from '../containerd-config.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { buildComponentPlan, type ComponentPlanner, isNode, type LinuxPlanContext } from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import { configRoot, containerdSocket, linuxCniDirectory, linuxProgramDirectory } from './paths.ts'
import { planLocalProbe, planRemoteProbe } from './probe-defaults.ts'
import { buildSystemdService, environmentSetting, type UnitSetting } from './unit.ts'

const name = 'containerd'
const directory = `${configRoot}/containerd`
const endpoint = `unix://${containerdSocket}`
const root = { owner: 'root' }
/** Directory in which foreign network plugins install their programs. */
const foreignPlugins = '/opt/cni/bin'
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export const planLinuxContainerd: ComponentPlanner<LinuxPlanContext> = (context) => {
  if (!isNode(context)) return undefined
  const { cluster, system } = context
  const program = planDownload(context, name, linuxProgramDirectory, { kind: 'archive', strip: 1 })
  const runc = planDownload(context, 'runc', linuxProgramDirectory, { kind: 'program', as: 'runc' })
  const plugins = planCniPlugins(context)
  const crictl = planDownload(context, 'crictl', linuxProgramDirectory, { kind: 'archive', strip: 0 })
  const paths = {
    owner: 'root',
    at: (...parts: readonly string[]) => posix.join(directory, ...parts),
    address: containerdSocket,
    pluginDirectories: [plugins.directory, foreignPlugins],
    networkDirectory: linuxCniDirectory,
  }
  const proxy = planProxyEnvironment(context, paths)
  const config = renderContainerdConfig(context, paths, {
    tables: renderRuntimeTables(context, runc.directory),
  })
  return buildComponentPlan({
    name,
    stage: 'node',
    version: program.version,
    directories: [
      { path: directory, owner: 'root', mode: '0700' },
      { path: `${directory}/certs.d`, owner: 'root', mode: '0700' },
      ...(cluster.spec.proxy?.ca === undefined
        ? []
        : [{ path: `${directory}/${proxyCaDirectory}`, owner: 'root', mode: '0700' }]),
      { path: linuxCniDirectory, owner: 'root', mode: '0755' },
      { path: foreignPlugins, owner: 'root', mode: '0755' },
    ],
    artifacts: [program, runc, plugins, crictl],
    images: listSandboxImages(context),
    files: [
      planTextFile(`${directory}/config.toml`, config, root),
      ...planContainerdFiles(context, paths),
      ...proxy.files,
      planTextFile('/etc/crictl.yaml', `runtime-endpoint: ${endpoint}\n`, {
        ...root,
        mode: '0644',
        restart: false,
      }),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'containerd container runtime',
        type: 'notify',
        command: [`${program.directory}/${name}`, `--config=${directory}/config.toml`],
        memoryFloor: formatMemoryFloor(name),
        settings: [
          // Containers must survive a restart of containerd.
          ['KillMode', 'process'],
          ['Delegate', 'yes'],
          ['TasksMax', 'infinity'],
          // containerd finds its shims through PATH.
          environmentSetting('PATH', [program.directory, runc.directory, systemPath].join(':')),
          ...Object.entries(proxy.variables).map(([variable, value]) => environmentSetting(variable, value)),
          ...buildProxySettings(cluster),
        ],
      },
      system,
    ),
    probes: [
      planLocalProbe({ name: 'health', check: { kind: 'grpc', endpoint } }),
      planLocalProbe({
        name: 'cri',
        check: { kind: 'cri', endpoint },
        intervalMs: 10_000,
        timeoutMs: 10_000,
      }),
      // The network is ready once flanneld has written its CNI configuration. A restart of containerd does
      // not help, so the probe is remote.
      planRemoteProbe({ name: 'network', check: { kind: 'cri', endpoint, network: true } }),
    ],
  })
}

/** Directories in which Go searches for CA certificates. A private directory is added to them. */
const systemCaDirectories = ['/etc/ssl/certs', '/etc/pki/tls/certs']

/** Builds the settings of the unit for the HTTP proxy. systemd reads the file as root. */
function buildProxySettings({ spec }: Cluster): readonly UnitSetting[] {
  if (spec.proxy === undefined) return []
  const caDirectories = [...systemCaDirectories, `${directory}/${proxyCaDirectory}`].join(':')
  return [
    ['EnvironmentFile', `${directory}/${proxyEnvironmentFile}`],
    ...(spec.proxy.ca === undefined ? [] : [environmentSetting('SSL_CERT_DIR', caDirectories)]),
  ]
}

/** Plans the download of the CNI plugins, which connect pods to the network. */
export function planCniPlugins(context: LinuxPlanContext): ReturnType<typeof planDownload> {
  return planDownload(context, 'cni-plugins', linuxProgramDirectory, { kind: 'archive', strip: 0 })
}

/** Renders settings that exist only on Linux: cgroups, SELinux and runc. */
function renderRuntimeTables({ system }: LinuxPlanContext, runc: string): string[] {
  return [
    "[plugins.'io.containerd.cri.v1.runtime']",
    `  enable_selinux = ${system.selinux === 'enforcing'}`,
    // Without CAP_SYS_RESOURCE containerd cannot lower an OOM score, and a pod that requests a lower score
    // would not start. With this setting containerd uses its own score as the lower bound.
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
