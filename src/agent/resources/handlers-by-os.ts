import type { OpTarget } from '../../contract/op.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Host, LinuxHost, WindowsHost } from '../host/host.ts'
import { type AnyResourceHandler, handlerForAnyHost, handlerForOs } from './resource-handler.ts'
import { artifactHandler } from './artifact.ts'
import { certificateHandler } from './certificate.ts'
import { derivedFileHandler } from './derived-file.ts'
import { directoryHandler } from './directory.ts'
import { fileHandler } from './file.ts'
import { linuxFirewallRuleHandler, windowsFirewallRuleHandler } from './firewall-rule.ts'
import { imageHandler } from './image.ts'
import { scmServiceHandler } from './scm-service.ts'
import { predecessorHandler } from './predecessor.ts'
import { kernelModuleHandler, sysctlHandler } from './kernel-setting.ts'
import { systemdServiceHandler } from './systemd-service.ts'
import { userHandler } from './user.ts'

type ResourceHandlers = Readonly<Record<OpTarget, AnyResourceHandler>>

const sharedHandlers = {
  directory: handlerForAnyHost(directoryHandler),
  artifact: handlerForAnyHost(artifactHandler),
  image: handlerForAnyHost(imageHandler),
  file: handlerForAnyHost(fileHandler),
  'derived-file': handlerForAnyHost(derivedFileHandler),
  certificate: handlerForAnyHost(certificateHandler),
}

/** Handlers of all resource kinds, by operating system. */
const handlers: Readonly<Record<Host['os'], ResourceHandlers>> = {
  linux: {
    ...sharedHandlers,
    user: handlerForOs(userHandler, requireLinux),
    module: handlerForOs(kernelModuleHandler, requireLinux),
    sysctl: handlerForOs(sysctlHandler, requireLinux),
    'firewall-rule': handlerForAnyHost(linuxFirewallRuleHandler),
    predecessor: handlerForOs(predecessorHandler, requireLinux),
    service: handlerForOs(systemdServiceHandler, requireLinux),
  },
  windows: {
    ...sharedHandlers,
    user: unsupportedHandler('user'),
    module: unsupportedHandler('module'),
    sysctl: unsupportedHandler('sysctl'),
    'firewall-rule': handlerForOs(windowsFirewallRuleHandler, requireWindows),
    predecessor: unsupportedHandler('predecessor'),
    service: handlerForOs(scmServiceHandler, requireWindows),
  },
}

export function handlersFor({ os }: Pick<Host, 'os'>): ResourceHandlers {
  return handlers[os]
}

function requireLinux(host: Host): LinuxHost {
  if (host.os === 'linux') return host
  throw new Error('this is not a Linux host')
}

function requireWindows(host: Host): WindowsHost {
  if (host.os === 'windows') return host
  throw new Error('this is not a Windows host')
}

/** Handler that always throws, for a resource kind that this operating system does not have. */
function unsupportedHandler(target: OpTarget): AnyResourceHandler {
  const refuse = async (): Promise<never> => {
    throw new HyperkubeError(
      'APPLY_OTHER_SYSTEM',
      `this operating system has no resource of type ${target}`,
      {
        hint: 'the plan is for another operating system: set os of the host in cluster.yml, then run the same command again',
      },
    )
  }
  return { inspect: refuse, recordBefore: refuse, make: refuse, remove: refuse }
}
