//! Texts as tools return them, and what may honestly be said about them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::words::{Word, read};

/// A text: its sentences, each with shorter or other ways to say it.
pub(super) struct Page {
    pub sentences: Vec<Sentence>,
    pub language: &'static str,
    layout: usize,
}

pub(super) struct Sentence {
    pub text: &'static str,
    pub claims: Vec<&'static str>,
    pub stems: BTreeSet<String>,
}

/// The words of a text that say something.
pub(super) fn stems(text: &str) -> BTreeSet<String> {
    read(text).into_iter().filter(Word::is_content).map(|word| word.stem).collect()
}

/// All of them.
pub(super) fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    for line in PAGES.lines().filter(|line| !line.is_empty()) {
        if let Some(language) = line.strip_prefix("# ") {
            let layout = pages.len();
            pages.push(Page { sentences: Vec::new(), language, layout });
            continue;
        }
        let (text, others) = line.split_once(" => ").unwrap_or((line, ""));
        let mut claims = vec![text];
        claims.extend(others.split(" | ").filter(|claim| !claim.is_empty()));
        pages.last_mut().unwrap().sentences.push(Sentence { text, claims, stems: stems(text) });
    }
    pages
}

impl Page {
    /// The result of a tool that has this text, in one of several forms.
    pub fn value(&self) -> Value {
        let texts: Vec<&str> = self.sentences.iter().map(|sentence| sentence.text).collect();
        let join =
            |mark: &str| texts.iter().map(|text| format!("{mark}{text}\n")).collect::<String>();
        match self.layout % 6 {
            0 => json!({ "doc_id": "sp-1", "content": format!("# Title of it\n{}", join("- ")) }),
            1 => json!({ "id": 7, "body": { "text": self.running() } }),
            2 => {
                json!({ "results": texts.iter().map(|text| json!({ "title": "A hit", "snippet": text })).collect::<Vec<_>>() })
            }
            3 => json!([{ "lines": join("") }, { "size": 12 }]),
            4 => {
                json!({ "pages": [{ "markdown": format!("> Note\n\n{}\r\n", join("* ").replace('\n', "\r\n")) }] })
            }
            _ => json!({ "ticket": { "comments": [["First comment", self.running()], texts] } }),
        }
    }

    /// Whether the sentences stand in one string, one behind the other.
    pub fn is_one_string(&self) -> bool {
        self.layout % 6 != 2
    }

    /// Whether every sentence is a string of its own and nowhere else.
    pub fn is_many_strings(&self) -> bool {
        self.layout % 6 == 2
    }

    fn running(&self) -> String {
        let (mark, space) = if self.language == "ja" { ("。", "") } else { (".", " ") };
        let ended = |sentence: &Sentence| format!("{}{mark}", sentence.text);
        self.sentences.iter().map(ended).collect::<Vec<_>>().join(space)
    }
}

const PAGES: &str = "
# en
Retain logs for 30 days => Keep logs for 30 days | Logs are retained for 30 days | Log retention is 30 days
Retain audit events for 180 days => Audit events are kept for 180 days | Audit retention is 180 days
Delete on user request where applicable => Delete on user request | Deletion on user request
Never log secrets => Secrets are never logged | Do not log secrets
# en
Passwords must have at least 14 characters => Passwords need at least 14 characters | Passwords must have 14 characters
Passwords expire after 365 days
Accounts lock after 5 failed attempts => Accounts are locked after 5 failed attempts
Administrators must use hardware tokens => Hardware tokens for administrators
# en
Incident INC-4211 was opened by Priya Natarajan on 2026-03-14 => Priya Natarajan opened INC-4211 | INC-4211 opened 14 March 2026
The payment gateway returned HTTP 503 for 42 minutes => Payment gateway returned 503 for 42 minutes
Restarting the pods in Frankfurt resolved the problem => Restarting pods in Frankfurt resolved the problem
Customers were not charged twice => Customers not charged twice
# en
Annual leave is 28 days per year => Annual leave: 28 days per year | Leave is 28 days per year
Up to 5 days may be carried over => Up to 5 days may carry over
Requests go to the line manager => Line manager gets requests
Sick leave needs a note after 3 days => Note needed after 3 days of sick leave
# en
The quarterly revenue rose by 12% to $4.5 million => Quarterly revenue rose 12% | Revenue rose by 12 percent
Operating costs fell in Europe => Costs fell in Europe
Acme hired 85 engineers => 85 engineers hired by Acme
The board approved a dividend of $0.25 => Board approved dividend of $0.25 | Dividend of $0.25 approved
# en
Backups run every night at 02:00 => Backups run at 02:00 every night
Backups are encrypted with AES-256 => AES-256 encrypted backups | Backups use AES-256 encryption
Restores are tested every quarter => Restores tested every quarter
Backups are not stored on laptops => Backups not stored on laptops | Never store backups on laptops
# en
The release 2.14 adds dark mode => Release 2.14 adds dark mode
It fixes a crash when files are empty => Fixes a crash with empty files
Support for Windows 8 was removed => Windows 8 support was removed | Windows 8 support removed
Upgrade needs about 15 minutes => Upgrade needs 15 minutes
# en
Visitors must sign in at reception => Visitors sign in at reception
Badges are worn at all times => Badges worn at all times
No photographs are allowed in the lab => Photographs are prohibited in the lab
Doors close at 19:30 => Doors close 19:30
# en
Customer data is stored in Ireland => Data stored in Ireland | Customer data kept in Ireland
Data leaves the EU only with consent => Data leaves the EU only with consent
Subprocessors are listed on the trust page => Trust page lists subprocessors
Contracts end 31 December 2027 => Contracts end 2027-12-31
# en
Travel over 500 km needs approval
Economy class is used for flights => Economy class for flights
Hotels cost at most 140 EUR per night => Hotels cost at most €140 per night
Receipts are submitted within 14 days => Submit receipts within 14 days
# en
ERROR worker-7 lost connection to redis.internal:6379 => worker-7 lost connection to redis.internal:6379
WARN queue depth 18250 exceeds limit 15000 => Queue depth 18250 exceeds limit 15000
INFO retry 3 of 10 scheduled => Retry 3 of 10 scheduled
INFO worker-7 reconnected after 8 seconds => worker-7 reconnected after 8 seconds
# en
The museum opens at 10:00 on weekdays => Museum opens 10:00 on weekdays
Tickets cost 12 euros => Tickets cost €12
Children under 6 enter free => Children under 6 free
Guided tours last 90 minutes => Tours last 90 minutes
# en
Severity one incidents page the on-call engineer => Severity 1 incidents page on-call engineer
Postmortems are due within 5 business days => Postmortems due within 5 business days
Blame is avoided in reviews => Avoid blame in reviews
Status updates go out every 30 minutes => Status updates every 30 minutes
# en
The vaccine was tested on 30,000 volunteers => Vaccine tested on 30000 volunteers
Side effects were mild in most cases => Mild side effects in most cases
The study ran in Brazil and Kenya => Study ran in Brazil and Kenya
Results appeared in Nature => Results in Nature
# en
Invoices are paid within 45 days => Pay invoices within 45 days
Late payments incur 2% interest => Late payments incur 2 percent interest
Disputes are raised with Finance Operations => Raise disputes with Finance Operations
Purchase orders above $10,000 need two signatures => Orders above $10000 need two signatures
# en
Use TLS 1.3 for external traffic => TLS 1.3 for external traffic
Do not disable certificate checks => Never disable certificate checks | Certificate checks must not be disabled
Rotate keys every 90 days => Keys are rotated every 90 days | Key rotation every 90 days
Private keys stay in the vault => Vault holds private keys
# en
Mount Kenya is 5,199 metres high => Mount Kenya is 5199 metres high
Its glaciers shrink every decade => Glaciers shrink every decade
Climbers need 4 days on average => Climbers need 4 days
The park was founded in 1949 => Park founded in 1949
# en
Ticket CHG0031 moves the database to PostgreSQL 17 => CHG0031 moves database to PostgreSQL 17
Downtime is expected to last 20 minutes => Downtime expected: 20 minutes
Rollback is possible until Friday => Rollback possible until Friday
Maria Lopez owns the change => Change owned by Maria Lopez
# en
Remote work is allowed 3 days per week => Remote work allowed 3 days per week
Employees must not work from public cafes => Employees must not work in public cafes
Equipment is returned on the last day => Return equipment on the last day
The company pays 40 EUR for internet => Company pays 40 EUR for internet
# en
The API limit is 600 requests per minute => API limit: 600 requests per minute
Responses over 1 MB are truncated => Responses over 1 MB truncated
Clients without a token receive 401 => Without token clients receive 401
Webhooks are retried 8 times => Webhooks retried 8 times
# en
Water boils at 100 °C at sea level => Water boils at 100 °C
Salt raises the boiling point => Salt raises boiling point
Pressure cookers reach 121 °C => Pressure cookers reach 121 °C inside
Pasta cooks in 9 minutes => Pasta cooks 9 minutes
# en
Laptops must be encrypted => Encrypted laptops are required
Lost devices are reported within 24 hours => Report lost devices within 24 hours
Personal phones may read mail => Personal phones may read mail
USB sticks are forbidden => USB sticks forbidden | USB sticks are not allowed
# en
Phishing mails are forwarded to security@acme.example => Forward phishing mails to security@acme.example
Do not click on links => Never click on links | Links: do not click
Training takes 45 minutes => Training takes 45 minutes in total
Managers see completion rates => Completion rates visible to managers
# en
The train leaves Lyon at 07:42 => Train leaves Lyon at 07:42
It reaches Turin in 4 hours => Reaches Turin in 4 hours
Seats are reserved in advance => Reserved seats in advance
Bicycles are not carried => Bicycles not carried
# en
Version 3 of the contract was signed by Omar Haddad => Omar Haddad signed version 3 | Contract signed by Omar Haddad
The notice period is 6 months => Notice period: 6 months
The fee is CHF 1'200 per month => Fee is CHF 1200 per month
Liability is limited to one million => Liability limited to 1 million
# en
Kernel 6.8 is required for the driver => Driver requires kernel 6.8
The driver supports 4 GPUs => Driver supports 4 GPUs
Memory usage stays below 16 GB => Memory stays below 16 GB
Windows is not supported => Windows not supported
# en
Feature flags are removed after 2 releases => Remove feature flags after 2 releases
Every flag has an owner => Each flag has an owner
Flags never guard billing => Billing is never guarded by flags
Stale flags are listed weekly => Stale flags listed weekly
# en
The library closes early on Sundays => Library closes early on Sundays
Members borrow 10 books => Members borrow ten books
Fines are 20 cents per day => Fines: 20 cents per day
Reference works cannot be borrowed => Reference works can't be borrowed
# en
The orchard produced 340 tons in 2025 => Orchard produced 340 tons in 2025
Frost destroyed half of the blossoms => Frost destroyed half the blossoms
Bees were rented from Weber Farms => Bees rented from Weber Farms
Prices doubled within a season => Prices doubled
# en
Access reviews happen twice a year => Access reviews twice a year
Dormant accounts are disabled after 60 days => Disable dormant accounts after 60 days
Contractors never get root access => No root access for contractors
Exceptions are approved by the CISO => CISO approves exceptions
# de
Protokolle werden 30 Tage aufbewahrt => Protokolle 30 Tage aufbewahrt
Geheimnisse werden nicht protokolliert => Geheimnisse nicht protokolliert
Sicherungen laufen jede Nacht => Sicherungen jede Nacht
Der Zugriff erfolgt nur mit Token => Zugriff nur mit Token
# de
Der Urlaub beträgt 30 Tage pro Jahr => Urlaub beträgt 30 Tage
Anträge gehen an Frau Schneider => Anträge an Frau Schneider
Resturlaub verfällt am 31. März => Resturlaub verfällt 31. März
Überstunden werden nicht ausgezahlt => Überstunden nicht ausgezahlt
# de
Die Brücke ist 412 Meter lang => Brücke ist 412 Meter lang
Sie wurde 1931 gebaut => 1931 gebaut worden
Lastwagen über 12 Tonnen sind verboten => Lastwagen über 12 Tonnen verboten
Radfahrer nutzen den linken Weg => Radfahrer nutzen linken Weg
# de
Rechnungen sind innerhalb von 14 Tagen fällig => Rechnungen innerhalb von 14 Tagen fällig
Skonto beträgt 2 % => Skonto: 2 %
Mahnungen kosten 5 € => Mahnungen kosten 5 €
Zahlungen ohne Referenz werden zurückgewiesen => Ohne Referenz werden Zahlungen zurückgewiesen
# de
Server in Zürich wurden am 3. Mai umgezogen => Server in Zürich am 3. Mai umgezogen
Der Ausfall dauerte 17 Minuten => Ausfall dauerte 17 Minuten
Kunden verloren keine Daten => Kunden verloren keine Daten
Das Team um Jonas Keller prüft die Ursache => Team um Jonas Keller prüft Ursache
# fr
Les journaux sont conservés 30 jours => Journaux conservés 30 jours
Ne partagez jamais les mots de passe => Ne jamais partager les mots de passe
Les sauvegardes sont chiffrées => Sauvegardes chiffrées
La direction valide chaque exception => Direction valide chaque exception
# fr
Le musée ouvre à 9 heures => Musée ouvre à 9 heures
L'entrée coûte 15 € => Entrée coûte 15 €
Les chiens ne sont pas admis => Chiens pas admis
Le jardin ferme en janvier => Jardin ferme en janvier
# fr
Le contrat expire le 15 mars 2027 => Contrat expire 15 mars 2027
Le préavis est de 3 mois => Préavis de 3 mois
Aucun remboursement partiel => Aucun remboursement partiel prévu
Claire Dubois signe les avenants => Avenants que signe Claire Dubois
# fr
Le serveur redémarre chaque dimanche => Serveur redémarre chaque dimanche
La panne a duré 25 minutes => Panne de 25 minutes
Les clients sans compte voient une page vide => Clients sans compte: page vide
Le correctif 4.2 est installé => Correctif 4.2 installé
# es
Los registros se conservan 30 días => Registros conservan 30 días
No comparta las contraseñas => No comparta contraseñas
Las copias se cifran cada noche => Copias cifran cada noche
El acceso requiere un token => Acceso requiere token
# es
El tren sale de Sevilla a las 08:15 => Tren sale de Sevilla 08:15
El viaje dura 3 horas => Viaje dura 3 horas
Los billetes cuestan 45 € => Billetes cuestan 45 €
Las mascotas viajan sin billete => Mascotas viajan sin billete
# es
La reunión es el 7 de octubre => Reunión 7 de octubre
Lucía Fernández presenta el informe => Lucía Fernández presenta informe
Asisten 24 delegados => 24 delegados asisten
Nunca se graba la sesión => Nunca se graba sesión
# es
El límite es de 500 peticiones => Límite de 500 peticiones
Las claves caducan en 60 días => Claves caducan en 60 días
Ningún usuario recibe permisos de escritura => Ningún usuario recibe permisos de escritura
El soporte responde en 4 horas => Soporte responde en 4 horas
# ja
ログは30日間保存します => ログは30日間保存
監査イベントは180日間保存します => 監査イベントは180日間保存
秘密情報を記録しないでください => 秘密情報を記録しない
鍵は90日ごとに更新します => 鍵は90日ごとに更新
# ja
会議は10月7日に開催されます => 会議は10月7日に開催
参加費は3000円です => 参加費は3000円
録音は禁止されています => 録音は禁止
資料は東京支社が配布します => 資料は東京支社が配布
# ja
バックアップは毎晩実行されます => バックアップは毎晩実行
障害は25分で復旧しました => 障害は25分で復旧
データは失われていません => データは失われていない
原因はネットワーク機器でした => 原因はネットワーク機器
# en
Volunteers plant 2,500 trees each spring => Volunteers plant 2500 trees each spring
Oak and beech grow best there => Oak and beech grow best
Deer are kept out by fences => Fences keep out deer
The city pays one third of the costs => City pays one third of costs
# en
Order 88213 ships from Rotterdam => Order 88213 ships from Rotterdam now
Delivery takes 6 to 9 days => Delivery: 6 to 9 days
Returns are free within 30 days => Free returns within 30 days
Gift cards cannot be refunded => Gift cards can not be refunded
# en
The telescope has a mirror of 39 metres => Telescope mirror of 39 metres
First light is planned for March 2029 => First light planned for March 2029
Chile hosts the site => Site hosted in Chile
Clouds rarely cover the summit => Summit rarely covered by clouds
# en
Interns get access to staging only => Interns get staging access only
Production access needs a second approval => Production access needs second approval
Approvals are valid for 8 hours => Approvals valid for 8 hours
Shared accounts are prohibited => Shared accounts prohibited
# en
The ferry to Naxos runs 4 times a day => Ferry to Naxos runs 4 times a day | Naxos ferry runs four times a day
Cars need a reservation => Cars need reservation
Pets travel in the lower deck => Pets travel in lower deck
Strong wind stops all ferries => Strong wind stops all ferries
# en
Firmware 7.31 fixes CVE-2026-1077 => CVE-2026-1077 fixed in firmware 7.31
Routers reboot twice during the update => Routers reboot twice during update
The update is signed by Contoso => Contoso signed the update
Downgrades are not possible => Downgrades not possible
# en
Query plan uses index idx_orders_date => Query uses index idx_orders_date
The scan reads 2.4 million rows => Scan reads 2,400,000 rows
Sorting spills 350 MB to disk => Sorting spills 350 MB
Statistics were updated on 2026-10-02 => Statistics updated 2 October 2026
# en
Applicants submit two references => Applicants submit 2 references
Interviews take place in Helsinki => Interviews in Helsinki
The salary starts at 52,000 EUR => Salary starts at €52,000
Late applications are not considered => Late applications not considered
# de
Das Lager in Bremen fasst 900 Paletten => Lager in Bremen fasst 900 Paletten
Stapler fahren höchstens 10 km schnell => Stapler fahren höchstens 10 km schnell
Rauchen ist verboten => Rauchen verboten
Inventur findet im Dezember statt => Inventur im Dezember
# fr
Le barrage produit 320 mégawatts => Barrage produit 320 mégawatts
Il alimente Grenoble depuis 1968 => Alimente Grenoble depuis 1968
Les visites durent 2 heures => Visites durent 2 heures
La baignade est interdite => Baignade interdite
# es
La fábrica de Bilbao emplea 640 personas => Fábrica de Bilbao emplea 640 personas
El turno dura 8 horas => Turno dura 8 horas
No hay turno los domingos => No hay turno domingos
Carmen Ortiz dirige la planta => Carmen Ortiz dirige planta
# ja
新しい工場は大阪にあります => 新しい工場は大阪
従業員は640人です => 従業員は640人
日曜日は営業していません => 日曜日は営業していない
見学は2時間かかります => 見学は2時間
# en
Grants cover 80% of travel costs => Grants cover 80 percent of travel costs
Reports are due every 6 months => Reports due every 6 months
Equipment stays with the Institute of Physics => Equipment stays with Institute of Physics
Overhead is never reimbursed => Overhead never reimbursed
# en
The clinic treats 70 patients a day => Clinic treats 70 patients a day
Dr. Elena Petrova leads the night shift => Elena Petrova leads night shift
Masks are optional in the lobby => Masks optional in lobby
Visitors may stay until 20:00
";
