import type { Figure } from '../figure.ts'
import { accept } from './accept.ts'
import { agents } from './agents.ts'
import { apps } from './apps.ts'
import { attacked } from './attacked.ts'
import { billing } from './billing.ts'
import { both } from './both.ts'
import { daemons } from './daemons.ts'
import { deliver } from './deliver.ts'
import { editCost } from './edit-cost.ts'
import { executable } from './executable.ts'
import { finished } from './finished.ts'
import { hanging } from './hanging.ts'
import { hosted } from './hosted.ts'
import { keyCaches } from './key-caches.ts'
import { peers } from './peers.ts'
import { reads } from './reads.ts'
import { restart } from './restart.ts'
import { search } from './search.ts'
import { studio } from './studio.ts'
import { upload } from './upload.ts'

/** Every figure, in the order in which a round measures them. */
export const FIGURES: readonly Figure[] = [
  ...accept,
  ...deliver,
  ...both,
  daemons,
  peers,
  ...reads,
  ...keyCaches,
  ...agents,
  ...hosted,
  finished,
  hanging,
  attacked,
  restart,
  ...executable,
  ...apps,
  editCost,
  upload,
  ...search,
  ...billing,
  ...studio,
]
