import { rke1AddonRules } from './addons.ts'
import { rke1AuthenticationRules } from './authentication.ts'
import { rke1TopLevelRules } from './top-level.ts'
import { rke1CloudRules } from './cloud.ts'
import { rke1NetworkRules } from './network.ts'
import { rke1NodeRules } from './nodes.ts'
import { parsePattern } from './pattern.ts'
import { rke1RegistryRules } from './registries.ts'
import { rke1RolloutRules } from './rollout.ts'
import { rke1ServiceRules } from './services.ts'
import { rke1SshRules } from './ssh.ts'
import type { RuleRow } from './apply-rules.ts'

const sections = [
  rke1TopLevelRules,
  rke1NodeRules,
  rke1SshRules,
  rke1ServiceRules,
  rke1NetworkRules,
  rke1AuthenticationRules,
  rke1RegistryRules,
  rke1AddonRules,
  rke1CloudRules,
  rke1RolloutRules,
]

/** Rules for every key that RKE1 knows. */
export const rke1Rules: readonly RuleRow[] = sections.flatMap((section) =>
  Object.entries(section).map(([pattern, rule]) => ({ pattern: parsePattern(pattern), rule })),
)
