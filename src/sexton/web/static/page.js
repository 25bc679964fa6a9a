// What every page loads. All of it makes a page that works by itself live and a little handier.
import { follow } from "./live.js";
import { keepTimes } from "./times.js";
import { handyForms } from "./forms.js";

keepTimes();
handyForms();
if (document.body.dataset.live === "yes") follow();
