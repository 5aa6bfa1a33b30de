import { canRunOn } from '../../contract/windows-build.ts'
import { hostError, type WindowsCheck } from './check.ts'

/** Images that every Windows pod needs. Built-in addons run on Linux only. */
const requiredImages = ['pause']

/**
 * Checks that images support the Windows build of the host, because Windows containers share its kernel.
 * Images without listed builds in the lock are skipped.
 */
export const checkWindowsImages: WindowsCheck = (subject) => {
  const { lock, system } = subject
  return requiredImages.flatMap((name) => {
    const builds = lock.windowsBuilds?.[name]
    if (builds === undefined || builds.some((build) => canRunOn(build, system.build))) return []
    const what =
      builds.length === 0
        ? 'for no Windows at all'
        : `for Windows of build ${builds.join(', ')}, of which build ${system.build} runs none`
    const message = `the image ${lock.images[name] ?? name} is ${what}`
    const hint = 'look where it comes from: spec.registries; then hyperkube lock'
    return [hostError(subject, 'HOST_WINDOWS_IMAGE', message, { hint, component: 'containerd' })]
  })
}
