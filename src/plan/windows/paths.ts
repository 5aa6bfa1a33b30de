import { win32 } from 'node:path'
import type { PlannedDirectory, PlannedFile } from '../../contract/component-plan.ts'
import { type CredentialFiles, buildKubeconfig } from '../../pki/kubeconfig.ts'
import { apiserverProxyPort } from '../apiserver-proxy-config.ts'
import { planTextFile } from '../files.ts'
import type { WindowsPlanContext } from '../context.ts'

/**
 * Our services run as the local system account, whatever its localized name. It and administrators own our
 * files.
 */
export const systemAccount = 'SYSTEM'

/** The pipe, as containerd names it and as its clients do. */
export const containerdPipe = String.raw`\\.\pipe\containerd-containerd`
export const containerdEndpoint = 'npipe:////./pipe/containerd-containerd'

/** Where every network plugin on Windows puts its files. */
export const windowsCniDirectory = String.raw`C:\etc\cni\net.d`
export const foreignPluginDirectory = String.raw`C:\opt\cni\bin`

/**
 * Paths on a Windows host. All our files are below one directory, so that one ACL protects them. Directly
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
  /** Allocated addresses of the node subnet. */
  readonly addressDirectory: string
  /** File with the source VIP that the agent allocates for kube-proxy. */
  readonly sourceVipFile: string
}

/** The part of a cluster that paths depend on. */
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

/** One directory per program version, so that two can coexist: a running program cannot be replaced. */
export function windowsProgramDirectory(
  context: BaseDirectoryContext,
): (name: string, version: string) => string {
  const { programs } = buildWindowsPlanPaths(context)
  return (name, version) => win32.join(programs, `${name}-${version}`)
}

/** Returns a function that names files in the settings directory of a component. */
export function componentSettingsPath(
  context: Pick<WindowsPlanContext, 'cluster'>,
  component: string,
): (...parts: readonly string[]) => string {
  const { settings } = buildWindowsPlanPaths(context)
  return (...parts) => win32.join(settings, component, ...parts)
}

/** A directory for the system and administrators only. */
export function planPrivateDirectory(path: string): PlannedDirectory {
  return { path, owner: systemAccount, mode: '0700' }
}

/**
 * Plans the kubeconfig of a component. It refers to certificate files by path, so a renewal does not change
 * it.
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
