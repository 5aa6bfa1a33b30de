import type { OpTarget } from '../../contract/op.ts'
import type { Host, LinuxHost, WindowsHost } from '../host/host.ts'
import { type AnyResourceHandler, handlerForAnyHost, handlerForOs } from './resource-handler.ts'
import { artifactHandler } from './resources/artifact.ts'
import { certificateHandler } from './resources/certificate.ts'
import { derivedFileHandler } from './resources/derived-file.ts'
import { directoryHandler } from './resources/directory.ts'
import { fileHandler } from './resources/file.ts'
import { linuxFirewallRuleHandler } from './resources/firewall-rule.ts'
import { imageHandler } from './resources/image.ts'
import { kernelModuleHandler } from './resources/kernel-module.ts'
import { unsupportedHandler } from './resources/unsupported.ts'
import { scmServiceHandler } from './resources/scm-service.ts'
import { systemdServiceHandler } from './resources/systemd-service.ts'
import { sysctlHandler } from './resources/sysctl.ts'
import { userHandler } from './resources/user.ts'
import { windowsFirewallRuleHandler } from './resources/windows-firewall-rule.ts'

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
    service: handlerForOs(systemdServiceHandler, requireLinux),
  },
  windows: {
    ...sharedHandlers,
    user: unsupportedHandler('user'),
    module: unsupportedHandler('module'),
    sysctl: unsupportedHandler('sysctl'),
    'firewall-rule': handlerForOs(windowsFirewallRuleHandler, requireWindows),
    service: handlerForOs(scmServiceHandler, requireWindows),
  },
}

export function handlersFor({ os }: Pick<Host, 'os'>): ResourceHandlers {
  return handlers[os]
}

function requireLinux(host: Host): LinuxHost {
  if (host.os === 'linux') return host
  throw new Error('this is no Linux host')
}

function requireWindows(host: Host): WindowsHost {
  if (host.os === 'windows') return host
  throw new Error('this is no Windows host')
}
