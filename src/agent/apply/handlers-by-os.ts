import type { OpTarget } from '../../contract/op.ts'
import type { Host, LinuxHost, WindowsHost } from '../host/host.ts'
import { type AnyTarget, anyTarget, targetOf } from './resource-handler.ts'
import { artifact } from './resources/artifact.ts'
import { certificate } from './resources/certificate.ts'
import { derivedFile } from './resources/derived-file.ts'
import { directory } from './resources/directory.ts'
import { file } from './resources/file.ts'
import { firewallRule } from './resources/firewall-rule.ts'
import { image } from './resources/image.ts'
import { module } from './resources/kernel-module.ts'
import { never } from './resources/unsupported.ts'
import { scmService } from './resources/scm-service.ts'
import { service } from './resources/systemd-service.ts'
import { sysctl } from './resources/sysctl.ts'
import { user } from './resources/user.ts'
import { windowsRule } from './resources/windows-firewall-rule.ts'

type Targets = Readonly<Record<OpTarget, AnyTarget>>

const shared = {
  directory: anyTarget(directory),
  artifact: anyTarget(artifact),
  image: anyTarget(image),
  file: anyTarget(file),
  'derived-file': anyTarget(derivedFile),
  certificate: anyTarget(certificate),
}

/** Every kind of thing that there can be on a host, by its system. */
const targets: Readonly<Record<Host['os'], Targets>> = {
  linux: {
    ...shared,
    user: targetOf(user, linux),
    module: targetOf(module, linux),
    sysctl: targetOf(sysctl, linux),
    'firewall-rule': anyTarget(firewallRule),
    service: targetOf(service, linux),
  },
  windows: {
    ...shared,
    user: never('user'),
    module: never('module'),
    sysctl: never('sysctl'),
    'firewall-rule': targetOf(windowsRule, windows),
    service: targetOf(scmService, windows),
  },
}

export function targetsFor({ os }: Pick<Host, 'os'>): Targets {
  return targets[os]
}

function linux(host: Host): LinuxHost {
  if (host.os === 'linux') return host
  throw new Error('this is no Linux host')
}

function windows(host: Host): WindowsHost {
  if (host.os === 'windows') return host
  throw new Error('this is no Windows host')
}
