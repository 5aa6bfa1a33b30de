import { error, type WindowsCheck, warning } from './check.ts'

/** By build: those that Kubernetes is tested on. */
const supported = new Map([
  [20_348, 'Server 2022'],
  [26_100, 'Server 2025'],
])
const server2019 = 17_763

export const windowsVersion: WindowsCheck = (subject) => {
  const { build } = subject.system
  const hint = `use Windows ${[...supported.values()].join(' or ')}`
  if (supported.has(build)) return []
  if (build < server2019) {
    const message = `Windows build ${build} is older than Server 2019 and cannot run today’s containers`
    return [error(subject, 'HOST_WINDOWS_TOO_OLD', message, { hint })]
  }
  if (build === server2019) {
    const message = 'Kubernetes no longer supports Windows Server 2019'
    return [warning(subject, 'HOST_WINDOWS_OLD', message, { hint })]
  }
  const message = `Windows build ${build} is none that we know`
  return [warning(subject, 'HOST_WINDOWS_UNKNOWN', message, { hint })]
}

export const windowsArch: WindowsCheck = (subject) => {
  const { arch } = subject.system
  if (arch === 'amd64') return []
  const message = `there are no programs of a Windows node for ${arch}`
  return [error(subject, 'HOST_WINDOWS_ARCH', message, { hint: 'use a host with amd64' })]
}

export const windowsFeatures: WindowsCheck = (subject) => {
  const { containersFeature, rebootPending } = subject.system
  return [
    ...(containersFeature
      ? []
      : [
          warning(
            subject,
            'HOST_WINDOWS_CONTAINERS',
            'the feature Containers is not installed: it will be, and the host restarts once',
            { hint: 'Install-WindowsFeature Containers -Restart, to do it at a time of your own' },
          ),
        ]),
    ...(rebootPending
      ? [
          warning(
            subject,
            'HOST_WINDOWS_REBOOT',
            'Windows waits for a restart, without which what was installed before may not work',
            { hint: 'Restart-Computer' },
          ),
        ]
      : []),
  ]
}
