import { win32 } from 'node:path'
import type { PlannedDirectory, PlannedFile } from '../../contract/component-plan.ts'
import { type CredentialFiles, buildKubeconfig } from '../../pki/kubeconfig.ts'
import { apiserverProxyPort } from '../apiserver-proxy-config.ts'
import { planTextFile } from '../files.ts'
import type { WindowsPlanContext } from '../context.ts'

/**
 * Name in plans for the local system account, which runs all hyperkube services and owns hyperkube's files.
 * Windows may show a localized name, so agents do not look the account up by name.
 */
export const systemAccount = 'SYSTEM'

/**
 * Named pipe of containerd. `containerdPipe` is its Windows path, `containerdEndpoint` the form that clients
 * use.
 */
export const containerdPipe = String.raw`\\.\pipe\containerd-containerd`
export const containerdEndpoint = 'npipe:////./pipe/containerd-containerd'

/** Directory of CNI configurations that all network plugins on Windows use. */
export const windowsCniDirectory = String.raw`C:\etc\cni\net.d`
export const foreignPluginDirectory = String.raw`C:\opt\cni\bin`

/**
 * Paths on a Windows host. All hyperkube files are below `base`, so that one ACL protects them. Directly
 * below C:\ any user may create files.
 */
export interface WindowsPlanPaths {
  readonly base: string
  readonly programs: string
  readonly settings: string
  readonly state: string
  readonly logs: string
  /** Subnet file that flanneld writes. */
  readonly flannelSubnetFile: string
  /** Directory with the allocated pod addresses of the node. */
  readonly addressDirectory: string
  /** File with the source VIP that the agent allocates for kube-proxy. */
  readonly sourceVipFile: string
}

/** Part of the context that the base directory depends on. */
interface BaseDirectoryContext {
  readonly cluster: { readonly spec: Pick<WindowsPlanContext['cluster']['spec'], 'windows'> }
}

export function buildWindowsPlanPaths({ cluster }: BaseDirectoryContext): WindowsPlanPaths {
  const base = cluster.spec.windows.baseDirectory
  const state = win32.join(base, 'state')
  return {
    base,
    programs: win32.join(base, 'programs'),
    settings: win32.join(base, 'settings'),
    state,
    logs: win32.join(base, 'logs'),
    flannelSubnetFile: win32.join(state, 'flanneld', 'subnet.env'),
    addressDirectory: win32.join(state, 'addresses'),
    sourceVipFile: win32.join(state, 'kube-proxy', 'source-vip.env'),
  }
}

/**
 * Returns the directory for a version of a program. Each version has its own directory, because Windows
 * cannot replace a running program.
 */
export function windowsProgramDirectory(
  context: BaseDirectoryContext,
): (name: string, version: string) => string {
  const { programs } = buildWindowsPlanPaths(context)
  return (name, version) => win32.join(programs, `${name}-${version}`)
}

/** Returns a function that joins paths below the settings directory of a component. */
export function componentSettingsPath(
  context: Pick<WindowsPlanContext, 'cluster'>,
  component: string,
): (...parts: readonly string[]) => string {
  const { settings } = buildWindowsPlanPaths(context)
  return (...parts) => win32.join(settings, component, ...parts)
}

/** Plans a directory that only the system account and administrators can access. */
export function planPrivateDirectory(path: string): PlannedDirectory {
  return { path, owner: systemAccount, mode: '0700' }
}

/**
 * Plans the kubeconfig of a component. It refers to certificate files by path, so a renewal does not change
 * the kubeconfig.
 */
export function planWindowsKubeconfig(context: WindowsPlanContext, component: string): PlannedFile {
  const settingsPath = componentSettingsPath(context, component)
  const server = `https://127.0.0.1:${apiserverProxyPort}`
  const access = { cluster: context.cluster.metadata.name, server, user: component }
  const files: CredentialFiles = {
    ca: settingsPath('ca.crt'),
    certificate: settingsPath('client.crt'),
    privateKey: settingsPath('client.key'),
  }
  return planTextFile(settingsPath('kubeconfig'), context.yaml(buildKubeconfig(access, files)), {
    owner: systemAccount,
  })
}
