import { runsOn } from '../../contract/windows-build.ts'
import { error, type WindowsCheck } from './check.ts'

/** What every pod of a Windows host is made of. Addons of ours run on Linux alone. */
const needed = ['pause']

/** A container runs on the kernel of its host: its image has to be made for that, as far as the lock says what it is made for. */
export const windowsImages: WindowsCheck = (subject) => {
  const { lock, system } = subject
  return needed.flatMap((name) => {
    const builds = lock.windowsBuilds?.[name]
    if (builds === undefined || builds.some((build) => runsOn(build, system.build))) return []
    const what =
      builds.length === 0
        ? 'for no Windows at all'
        : `for Windows of build ${builds.join(', ')}, of which build ${system.build} runs none`
    const message = `the image ${lock.images[name] ?? name} is ${what}`
    const hint = 'look where it comes from: spec.registries; then hyperkube lock'
    return [error(subject, 'HOST_WINDOWS_IMAGE', message, { hint, component: 'containerd' })]
  })
}
