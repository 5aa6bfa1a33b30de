import type { OpTarget } from '../../contract/op.ts'
import { type AnyTarget, anyTarget } from './target.ts'
import { artifact } from './targets/artifact.ts'
import { certificate } from './targets/certificate.ts'
import { derivedFile } from './targets/derived-file.ts'
import { directory } from './targets/directory.ts'
import { file } from './targets/file.ts'
import { firewallRule } from './targets/firewall-rule.ts'
import { image } from './targets/image.ts'
import { module } from './targets/module.ts'
import { service } from './targets/service.ts'
import { sysctl } from './targets/sysctl.ts'
import { user } from './targets/user.ts'

/** Every kind of thing that there can be on a Linux host. */
export const targets: Readonly<Record<OpTarget, AnyTarget>> = {
  user: anyTarget(user),
  module: anyTarget(module),
  sysctl: anyTarget(sysctl),
  'firewall-rule': anyTarget(firewallRule),
  directory: anyTarget(directory),
  artifact: anyTarget(artifact),
  image: anyTarget(image),
  file: anyTarget(file),
  'derived-file': anyTarget(derivedFile),
  certificate: anyTarget(certificate),
  service: anyTarget(service),
}
