import { canRunOn, windowsServers } from '../../contract/windows-host.ts'
import { hostError, hostWarning, type WindowsCheck } from './check.ts'

const server2019 = 17_763

export const checkWindowsVersion: WindowsCheck = (subject) => {
  const { build, installation } = subject.system
  const hint = `use Windows ${windowsServers.map(({ name }) => name).join(' or ')}`
  if (installation === 'Client') {
    const message = 'the host runs a Windows client edition, which Kubernetes does not support'
    return [hostError(subject, 'HOST_WINDOWS_CLIENT', message, { hint })]
  }
  if (windowsServers.some((known) => known.build === build)) return []
  if (build < server2019) {
    const message = `Windows build ${build} is older than Server 2019 and cannot run current containers`
    return [hostError(subject, 'HOST_WINDOWS_TOO_OLD', message, { hint })]
  }
  if (build === server2019) {
    const message = 'Kubernetes no longer supports Windows Server 2019'
    return [hostWarning(subject, 'HOST_WINDOWS_OLD', message, { hint })]
  }
  const message = `Windows build ${build} is not tested with this release of hyperkube`
  return [hostWarning(subject, 'HOST_WINDOWS_UNKNOWN', message, { hint })]
}

export const checkWindowsArch: WindowsCheck = (subject) => {
  const { arch } = subject.system
  if (arch === 'amd64') return []
  const message = `Windows nodes on ${arch} are not supported`
  return [hostError(subject, 'HOST_WINDOWS_ARCH', message, { hint: 'use a host with amd64' })]
}

export const checkWindowsFeatures: WindowsCheck = (subject) => {
  if (subject.system.containersFeature) return []
  const message = 'the Windows feature Containers is not installed'
  const hint = 'Install-WindowsFeature Containers -Restart'
  return [hostError(subject, 'HOST_WINDOWS_CONTAINERS', message, { hint })]
}

export const checkWindowsRestart: WindowsCheck = (subject) => {
  if (!subject.system.rebootPending) return []
  const message = 'a reboot of Windows is pending; installed features may not work before it'
  return [hostWarning(subject, 'HOST_WINDOWS_REBOOT', message, { hint: 'Restart-Computer' })]
}

/** Checks that the drive of the base directory exists. All hyperkube files are below that directory. */
export const checkWindowsDrive: WindowsCheck = (subject) => {
  const { baseDirectory } = subject.cluster.spec.windows
  const drive = baseDirectory.slice(0, 2).toUpperCase()
  const { disks } = subject.system
  if (disks.some(({ path }) => path.toUpperCase().startsWith(drive))) return []
  const available = disks.map(({ path }) => path).join(', ') || 'none'
  const message = `the host has no drive ${drive} for ${baseDirectory}; its drives: ${available}`
  const path = 'spec.windows.baseDirectory'
  return [hostError(subject, 'HOST_WINDOWS_NO_DISK', message, { hint: 'Get-Volume', path })]
}

/**
 * Images that every Windows pod needs. Images of built-in addons are not listed, because these addons run on
 * Linux only.
 */
const requiredImages = ['pause']

/**
 * Checks that images support the Windows build of the host, because Windows containers share its kernel.
 * Images without listed builds in the lock are skipped.
 */
export const checkWindowsImages: WindowsCheck = (subject) => {
  const { system } = subject
  const lock = subject.lock.workers ?? subject.lock
  return requiredImages.flatMap((name) => {
    const builds = lock.windowsBuilds?.[name]
    if (builds === undefined || builds.some((build) => canRunOn(build, system.build))) return []
    const what =
      builds.length === 0
        ? 'not for Windows'
        : `for Windows build ${builds.join(', ')}, which cannot run on build ${system.build}`
    const message = `the image ${lock.images[name] ?? name} is ${what}`
    const hint = 'check the mirrors in spec.registries, then run: hyperkube lock'
    return [hostError(subject, 'HOST_WINDOWS_IMAGE', message, { hint, component: 'containerd' })]
  })
}
