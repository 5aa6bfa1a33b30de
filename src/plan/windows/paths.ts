import { win32 } from 'node:path'
import type { PlannedDirectory, PlannedFile } from '../../contract/component-plan.ts'
import { kubeconfig } from '../../pki/kubeconfig.ts'
import { proxyPort } from '../apiserver-proxy-config.ts'
import { textFile } from '../files.ts'
import type { WindowsScene } from '../context.ts'

/** Our services run as the system itself, whatever a language calls it; files are its own and administrators'. */
export const owner = 'SYSTEM'

/** The pipe, as containerd names it and as those who call it do. */
export const containerdPipe = String.raw`\\.\pipe\containerd-containerd`
export const containerdEndpoint = 'npipe:////./pipe/containerd-containerd'

/** Where any network puts its files on Windows, whoever brings it. */
export const cniConfiguration = String.raw`C:\etc\cni\net.d`
export const foreignPlugins = String.raw`C:\opt\cni\bin`

/**
 * Where things are on a Windows host. All that is ours is below one directory, so that one list of who may enter keeps
 * others out: below C:\ anybody may else put files beside ours.
 */
export interface Places {
  readonly base: string
  readonly programs: string
  readonly settings: string
  readonly state: string
  readonly logs: string
  /** What flannel writes when it has got its part of the network. */
  readonly flannelSubnet: string
  /** Which addresses of that part are taken, and by whom. */
  readonly addresses: string
  /** What the agent writes when it has taken one of them for kube-proxy. */
  readonly sourceVip: string
}

/** Of a cluster, all that paths depend on. */
interface BaseScene {
  readonly cluster: { readonly spec: Pick<WindowsScene['cluster']['spec'], 'windows'> }
}

export function placesOf({ cluster }: BaseScene): Places {
  const base = cluster.spec.windows.baseDirectory
  const state = win32.join(base, 'state')
  return {
    base,
    programs: win32.join(base, 'programs'),
    settings: win32.join(base, 'settings'),
    state,
    logs: win32.join(base, 'logs'),
    flannelSubnet: win32.join(state, 'flanneld', 'subnet.env'),
    addresses: win32.join(state, 'addresses'),
    sourceVip: win32.join(state, 'kube-proxy', 'source-vip.env'),
  }
}

/** A directory of its version for each program, so that two can be there at once: one that runs cannot be replaced. */
export function programDirectory(scene: BaseScene): (name: string, version: string) => string {
  const { programs } = placesOf(scene)
  return (name, version) => win32.join(programs, `${name}-${version}`)
}

/** Names files in the directory where a component finds all that it reads. */
export function settingsOf(
  scene: Pick<WindowsScene, 'cluster'>,
  component: string,
): (...parts: readonly string[]) => string {
  const { settings } = placesOf(scene)
  return (...parts) => win32.join(settings, component, ...parts)
}

/** For the system and administrators alone. */
export function closedDirectory(path: string): PlannedDirectory {
  return { path, owner, mode: '0700' }
}

/** How a component that runs here becomes known to the API. Its files are named, so a renewal changes no byte of it. */
export function kubeconfigFile(scene: WindowsScene, component: string): PlannedFile {
  const at = settingsOf(scene, component)
  const server = `https://127.0.0.1:${proxyPort}`
  const access = { cluster: scene.cluster.metadata.name, server, user: component }
  const files = { authority: at('ca.crt'), certificate: at('client.crt'), privateKey: at('client.key') }
  return textFile(at('kubeconfig'), scene.yaml(kubeconfig(access, files)), { owner })
}
