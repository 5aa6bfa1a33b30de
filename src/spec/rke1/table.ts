import { addons } from './addons.ts'
import { authentication } from './authentication.ts'
import { basics } from './top-level.ts'
import { cloud } from './cloud.ts'
import { network } from './network.ts'
import { nodes } from './nodes.ts'
import { patternOf } from './pattern.ts'
import { registries } from './registries.ts'
import { rollout } from './rollout.ts'
import { services } from './services.ts'
import { ssh } from './ssh.ts'
import type { Row } from './apply-rules.ts'

const sections = [basics, nodes, ssh, services, network, authentication, registries, addons, cloud, rollout]

/** Every key that RKE1 knows. */
export const rows: readonly Row[] = sections.flatMap((section) =>
  Object.entries(section).map(([pattern, rule]) => ({ pattern: patternOf(pattern), rule })),
)
